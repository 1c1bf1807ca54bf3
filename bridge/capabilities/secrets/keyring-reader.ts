// A program of its own: asks the system's keyring for the names that it is given, prints what it finds as JSON, and ends. A keyring that is locked may never answer, and what waits
// for one within the bridge could not be ended.
import { Worker } from 'node:worker_threads';
import { Entry } from '@napi-rs/keyring';
import { KEYRING_MS, SERVICE } from './keyring-place.ts';

// The bridge ends it too, but may be gone by then; no timer of this thread goes off while native code has it.
new Worker(`setTimeout(() => process.kill(${process.pid}, 'SIGKILL'), ${KEYRING_MS})`, { eval: true });

const found: Record<string, string> = {};
for (const name of process.argv.slice(2)) {
  try {
    // In this thread: the kernel's keyring is another one in each thread.
    const value = new Entry(SERVICE, name).getPassword();
    if (value) found[name] = value;
  } catch {
    // What is locked, or refused, is as what is not there.
  }
}
process.stdout.write(JSON.stringify(found), () => process.exit(0));
