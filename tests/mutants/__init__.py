"""Does a test notice if one operator, comparison or number of the code is another?"""
