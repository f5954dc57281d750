"""Tables as they come from other programs, and lists as other programs read them."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile

import pandas as pd
import pytest
from typer.testing import CliRunner

from falcon_discover import InputError
from falcon_discover.cli import app
from falcon_discover.data.files import read_table, write_results
from falcon_discover.datasets import make_planted
from falcon_discover.runtime import notices

PLAIN = "y,x,city\n0,1.5,Bern\n1,2.5,Köln\n"
EXPECTED = pd.DataFrame({"y": [0, 1], "x": [1.5, 2.5], "city": ["Bern", "Köln"]})


@pytest.fixture
def table(tmp_path):
    def written(content, name="t.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return written


def assert_reads(path, expected=EXPECTED, **options):
    with notices.collected() as notes:
        pd.testing.assert_frame_equal(read_table(path, **options), expected, check_dtype=False)
    return list(notes)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("y,x\n0,1,\n1,2,\n", 2),
        ("y,x\n0,1\n1,2\n0,3,\n", 4),
        ("y,x\n\n0,1,7\n1,2,8\n", 3),
        ('y;x\n"a\nb";1;\n', 3),
    ],
)
def test_a_row_longer_than_the_header_is_refused_and_its_line_named(table, content, line):
    path = table(content)
    with pytest.raises(InputError, match=rf"line {line} of .* has 3 fields, but the header has 2"):
        read_table(path)


def test_a_separator_at_the_end_of_every_line_and_of_the_header_changes_nothing(table):
    path = table(PLAIN.replace("\n", ",\n"))
    assert assert_reads(path) == []
    kept = read_table(table("y,x,\n0,1,\n1,2,3\n"))
    assert list(kept.iloc[:, 2].fillna(0)) == [0, 3]


def test_an_index_column_without_a_name_stays(table):
    found = read_table(table(",y,x\n0,1,2\n1,0,3\n"))
    assert list(found.columns) == ["Unnamed: 0", "y", "x"]


def test_ids_are_read_as_they_are_written(table):
    ids = ["000097", "9007199254741049", "", "15e5", "NA", " 7 ", "1,5", "True"]
    path = table("key,x\n" + "".join(f'"{key}",{i}\n' for i, key in enumerate(ids)))
    found = read_table(path, text_columns=["key"])
    assert found["key"].tolist() == ids
    assert found["x"].tolist() == list(range(8))
    assert "key" in read_table(path, text_columns=["kye"])
    semicolons = table("key;x\n007;1,5\n1,5;2\n")
    with notices.collected():
        assert read_table(semicolons, ["key"])["key"].tolist() == ["007", "1,5"]


def test_an_audit_and_its_files_keep_the_ids(table, tmp_path):
    planted = make_planted(120, random_state=0)
    ids = [f"{i:06}" for i in range(120)]
    path = table(planted.X.assign(y=planted.y, p=planted.proba, key=ids).to_csv(index=False))
    words = ["audit", str(path), "--target", "y", "--proba", "p", "--id", "key", "--quiet"]
    result = CliRunner().invoke(app, [*words, "--jobs", "1", "--out", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    review = pd.read_parquet(tmp_path / "out" / "review.parquet")
    assert set(review["key"]) <= set(ids)
    listed = pd.read_csv(tmp_path / "out" / "review.csv", dtype={"key": str})
    assert listed["key"].tolist() == review["key"].tolist()


@pytest.mark.parametrize(("separator", "word"), [(";", "semicolons"), ("\t", "tabs")])
def test_other_separators_are_seen_and_noted(table, separator, word):
    notes = assert_reads(table(PLAIN.replace(",", separator)))
    assert len(notes) == 1
    assert f"is separated by {word}" in notes[0]


def test_a_file_of_tabs_may_have_commas_in_its_names(table):
    path = table("y\tincome, USD\n0\t1\n1\t2\n", "t.tsv")
    assert_reads(path, pd.DataFrame({"y": [0, 1], "income, USD": [1, 2]}))
    assert_reads(table(PLAIN, "t.tsv"))


def test_decimal_commas_are_numbers_where_no_comma_separates(table):
    path = table("y;x;big;word\n0;1,5;1.234,56;a,b\n1;-2,25;7;c\n0;;8,5;d\n")
    expected = pd.DataFrame(
        {
            "y": [0, 1, 0],
            "x": [1.5, -2.25, None],
            "big": [1234.56, 7, 8.5],
            "word": ["a,b", "c", "d"],
        }
    )
    notes = assert_reads(path, expected)
    assert "decimal commas: 'x', 'big' were read as numbers" in notes[1]


def test_a_comma_that_may_stand_between_thousands_is_refused(table):
    path = table("y;x\n0;1,234\n1;17\n")
    with pytest.raises(InputError, match=r"'x' of .*'1,234', which can be read in two ways"):
        assert_reads(path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_every_unicode_encoding_that_says_so_is_read(table, encoding):
    assert assert_reads(table(PLAIN.encode(encoding))) == []


def test_another_encoding_is_refused_with_the_line_and_the_way_out(table):
    with pytest.raises(InputError, match=r"line 3, byte 0xf6.*iconv -f WINDOWS-1252 -t UTF-8"):
        read_table(table(PLAIN.encode("cp1252")))


def test_packed_files_are_told_by_their_whole_ending(table):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("t.csv", PLAIN)
    content = PLAIN.encode()
    for data, ending in (
        (gzip.compress(content), "csv.gz"),
        (gzip.compress(content.replace(b",", b"\t")), "TSV.GZ"),
        (bz2.compress(content), "csv.bz2"),
        (lzma.compress(content), "csv.xz"),
        (packed.getvalue(), "csv.zip"),
    ):
        assert_reads(table(data, f"t.{ending}"))
    with pytest.raises(InputError, match=r"has the ending '.parquet.gz': use one of .csv, "):
        read_table(table(gzip.compress(content), "t.parquet.gz"))
    with pytest.raises(InputError, match="cannot be read"):
        read_table(table(b"not packed", "t.csv.gz"))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("y,x\0\n0,1\n", "name of column 2 of .* has a NUL character"),
        ("y,x\n0,1\n".encode("utf-16-le"), "name of column 1 of .* has a NUL character"),
        ("y,x,y\n0,1,2\n", "has two columns named 'y': rename one"),
        ("", "is empty"),
        ("y,x\n", "has no rows"),
    ],
)
def test_what_is_no_table_is_refused_with_a_sentence(table, content, sentence):
    with pytest.raises(InputError, match=sentence):
        read_table(table(content))


def test_a_folder_and_an_unreadable_file_are_named(table, tmp_path, monkeypatch):
    with pytest.raises(InputError, match="is a folder: give a file"):
        read_table(tmp_path)
    path = table(PLAIN)

    def refused(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("falcon_discover.data.delimited._opened", refused)
    with pytest.raises(InputError, match=r"t.csv cannot be read: Permission denied\.$"):
        read_table(path)


def test_the_review_list_has_a_line_per_row_and_no_formula_whatever_its_texts(tmp_path):
    bad = ["x1\r=cmd|' /C calc'!A0", "a\nb", "\t=1", "\x1b[31mred", 'say "=1"', "-1", "plain"]
    review = pd.DataFrame({"=1+1": bad, "\x1b]0;t": bad, "risk": [0.5, -1.0, 2, 3, 4, 5, None]})
    write_results(tmp_path, review, {})
    text = (tmp_path / "review.csv").read_bytes().decode()
    assert text.count("\n") == 8
    assert not {"\r", "\t", "\x1b"} & set(text)
    found = pd.read_csv(tmp_path / "review.csv")
    assert len(found) == 7
    pd.testing.assert_series_equal(found["risk"], review["risk"])
    texts = [*found.columns, *found.drop(columns="risk").to_numpy().ravel()]
    assert not [cell for cell in texts if cell.startswith(("=", "+", "-", "@"))]
    assert found.iloc[6, 0] == "plain"
