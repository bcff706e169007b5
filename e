rocescope: --counters-before /dev/null: no --counters-after was given for the same host
