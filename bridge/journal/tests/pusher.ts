// A process that pushes records concurrently until it is killed or has pushed `most` of them: `<dir> <origin> <most>`. Prints the key of
// each acknowledged one.
import { KEY, createVersion } from '../fixture.ts';
import { openJournal } from '../open-journal.ts';

const [dir = '', origin = '', most = ''] = process.argv.slice(2);
const CALLERS = 8;

const journal = await openJournal({ dir, vaultKey: KEY });
let recordCount = 0;
async function caller(): Promise<void> {
  while (recordCount < Number(most)) {
    const records = Array.from({ length: 3 }, () => createVersion(`${origin}${++recordCount}`, recordCount, origin));
    await journal.push(records, origin);
    process.stdout.write(records.map(({ key }) => `${key}\n`).join(''));
  }
}
await Promise.all(Array.from({ length: CALLERS }, caller));
await journal.close();
