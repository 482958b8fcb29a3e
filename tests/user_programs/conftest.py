"""Programs that users would write; `tests/engine/test_user_programs.py` runs them and their tests in copies."""

collect_ignore_glob = ["*"]
