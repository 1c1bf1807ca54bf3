import * as memory from 'perch/memory';
import * as recall from 'perch/memory/active-recall';
import * as dreaming from 'perch/memory/dreaming';
import * as wiki from 'perch/memory/wiki';
import { again, walk } from './walk.js';

const libraries = { memory, recall, wiki, dreaming };
Object.assign(globalThis, {
  walk: (name) => walk(libraries, name, location.origin),
  again: (name) => again(libraries, name),
  /** Writes beside another tab that does the same. */
  async many(name, who, count) {
    const manager = await new memory.MemoryManager(name).open();
    const { claims } = new wiki.WikiVault(name);
    const signals = new dreaming.SignalsStore(name);
    await Promise.all(
      Array.from({ length: count }, async (_, nth) => {
        await manager.addMemory(`${who} keeps the key number ${nth}`);
        await manager.persistDialog([{ role: 'user', content: `${who} ${nth}`, id: `${who}-${nth}`, timestamp: Date.now() }], who);
        await claims.addClaim('entities/keys', `${who} has ${nth} keys`, []);
        await signals.addSignal(`${who} keeps the key number ${nth}`, 'MEMORY.md', 'keys');
      }),
    );
    await manager.close();
  },
  /** Writes files of a workspace: what was said of each, and what it has then. */
  async stored(name, files) {
    const at = memory.databaseWorkspace(name);
    const told = [];
    for (const [path, text] of Object.entries(files))
      told.push([
        await at.write(path, text).then(
          () => 'stored',
          ({ message }) => message,
        ),
        (await at.read(path))?.length,
      ]);
    return told;
  },
  async counted(name) {
    const manager = await new memory.MemoryManager(name).open();
    const { dialogs } = await manager.getStats();
    const counts = [(await manager.getMemories()).length, dialogs.messages, (await new wiki.WikiVault(name).claims.listClaims()).length];
    await manager.close();
    return [...counts, (await new dreaming.SignalsStore(name).getStats()).total];
  },
});
