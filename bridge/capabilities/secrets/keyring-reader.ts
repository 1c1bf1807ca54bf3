// A separate program: reads the given names from the system's keyring, prints the values found as JSON, and exits. A locked keyring may
// never answer, and such a call could not be aborted within the bridge.
import { Worker } from 'node:worker_threads';
import { Entry } from '@napi-rs/keyring';
import { KEYRING_MS, KEYRING_SERVICE } from './keyring-constants.ts';

// The bridge also kills it, but may itself be gone by then. Uses another thread, since no timer of this one runs during native code.
new Worker(`setTimeout(() => process.kill(${process.pid}, 'SIGKILL'), ${KEYRING_MS})`, { eval: true });

const found: Record<string, string> = {};
for (const name of process.argv.slice(2)) {
  try {
    // In this thread: the kernel's keyring is per thread.
    const value = new Entry(KEYRING_SERVICE, name).getPassword();
    if (value) found[name] = value;
  } catch {
    // A locked or rejected entry counts as missing.
  }
}
process.stdout.write(JSON.stringify(found), () => process.exit(0));
