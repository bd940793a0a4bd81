"""numbers.py LEAKREPORT FOLDER - captures, compared, different, stops: summed over the stores there."""
import glob, json, subprocess, sys

stores = glob.glob(glob.escape(sys.argv[2]) + "/*.leak")
if stores:
    done = subprocess.run([sys.argv[1], "--format=json", "--top=1", *stores], stdout=subprocess.PIPE)
    seen = [p["coverage"] for p in json.loads(done.stdout)["processes"]]
    print(*[sum(p[k] for p in seen) for k in
            ("allocations", "unwind_checks", "unwind_mismatches", "unwind_stops")])
