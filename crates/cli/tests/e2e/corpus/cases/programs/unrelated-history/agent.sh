#!/bin/sh
cat > /dev/null
git checkout --quiet --orphan fresh
echo work > work.txt
git add .
git diff --cached --quiet || git commit --quiet --message=work
git branch --force "agent/$CREW_AGENT-$CREW_TICKET_ID"
git checkout --quiet "agent/$CREW_AGENT-$CREW_TICKET_ID"
echo DONE
