mkdir -p .tickets
awk 'BEGIN { for (n = 0; n < 10000; n++) { file = ".tickets/t-" n ".md"
  printf "---\nid: t-%d\nstatus: open\ndeps: [%s]\npriority: 2\n---\n# T\n", n, n < 9999 ? "t-" n + 1 : "" > file; close(file) } }'
