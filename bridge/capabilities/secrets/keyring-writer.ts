// A separate program, like the reader: saves one secret in the system's keyring (`keep`: only in a persistent one), or removes it. `set`
// and `keep` read the value from standard input, which process lists do not show. Prints whether there was an entry. Exits with 1 if the
// keyring can't be used.
import { text } from 'node:stream/consumers';
import { Worker } from 'node:worker_threads';
import { Entry } from '@napi-rs/keyring';
import { KEYRING_MS, KEYRING_SERVICE } from './keyring-constants.ts';

const [what, name = ''] = process.argv.slice(2);
const isGiven = what === 'set' || what === 'keep';
const value = isGiven ? await text(process.stdin) : '';
new Worker(`setTimeout(() => process.kill(${process.pid}, 'SIGKILL'), ${KEYRING_MS})`, { eval: true });

try {
  // The fallback on Linux is the kernel's keyring, which is cleared at the end of the session.
  const entry = new Entry(KEYRING_SERVICE, name, what === 'keep' ? { linux: { store: 'secret-service' } } : undefined);
  if (isGiven) {
    entry.setPassword(value);
    // Some keyrings accept values without storing them.
    if (entry.getPassword() !== value) throw new Error('the keyring didn’t save it');
    process.stdout.write('true', () => process.exit(0));
  } else {
    process.stdout.write(String(entry.deletePassword()), () => process.exit(0));
  }
} catch {
  process.exit(1);
}
