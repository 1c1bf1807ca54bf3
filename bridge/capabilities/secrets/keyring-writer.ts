// A program of its own, as the reader is: puts one secret into the system's keyring (`keep`: only into one that lasts), or takes it away. `set` and `keep` read the value from standard input, where no process list shows it. Prints
// whether there was an entry; ends with 1 where the keyring cannot be used.
import { text } from 'node:stream/consumers';
import { Worker } from 'node:worker_threads';
import { Entry } from '@napi-rs/keyring';
import { KEYRING_MS, SERVICE } from './keyring-place.ts';

const [what, name = ''] = process.argv.slice(2);
const isGiven = what === 'set' || what === 'keep';
const value = isGiven ? await text(process.stdin) : '';
new Worker(`setTimeout(() => process.kill(${process.pid}, 'SIGKILL'), ${KEYRING_MS})`, { eval: true });

try {
  // Where there is no other, Linux has the kernel's, which forgets with the session.
  const entry = new Entry(SERVICE, name, what === 'keep' ? { linux: { store: 'secret-service' } } : undefined);
  if (isGiven) {
    entry.setPassword(value);
    // Some keyrings take everything and keep nothing.
    if (entry.getPassword() !== value) throw new Error('the keyring didn’t save it');
    process.stdout.write('true', () => process.exit(0));
  } else {
    process.stdout.write(String(entry.deletePassword()), () => process.exit(0));
  }
} catch {
  process.exit(1);
}
