# Sourced by tools/test and .ci/run: runs one stage, says how long it took, and stops at the first that fails.

# stage NAME COMMAND...
stage() {
  local name=$1 start=$SECONDS status=0
  shift
  printf '\n== %s\n' "$name"
  "$@" || status=$?
  if [ "$status" -ne 0 ]; then
    printf '== %s: FAILED after %d s (exit code %d)\n' "$name" $((SECONDS - start)) "$status" >&2
    exit 1
  fi
  printf '== %s: %d s\n' "$name" $((SECONDS - start))
}
