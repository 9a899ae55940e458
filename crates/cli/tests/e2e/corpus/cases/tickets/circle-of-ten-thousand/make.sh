mkdir -p .tickets
awk 'BEGIN { for (n = 0; n < 10000; n++) { file = ".tickets/t-" n ".md"
  printf "---\nid: t-%d\nstatus: open\ndeps: [t-%d]\npriority: 2\n---\n# T\n", n, (n + 1) % 10000 > file; close(file) } }'
