import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { verifies } from '../requirements.ts';

const MODULES: Readonly<Record<string, () => Promise<object>>> = {
  'perch/memory': () => import('../../bridge/library/memory.ts'),
  'perch/memory/active-recall': () => import('../../web/library/active-recall.ts'),
  'perch/memory/wiki': () => import('../../bridge/library/wiki.ts'),
  'perch/memory/dreaming': () => import('../../bridge/library/dreaming.ts'),
  'perch/ui': () => import('../../web/library/ui/index.ts'),
};

verifies(['memory/names', 'canvas.classes/names'], 'docs/names.md names only what there is', async () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/names.md'), 'utf8');
  const rows = [...page.matchAll(/^\| (`.*) \| (`.*) \| `(perch\/.*)` \|$/gm)];
  expect(rows.length).toBeGreaterThan(30);
  for (const [, , ours = '', from = ''] of rows) {
    const exported = new Map(Object.entries((await MODULES[from]?.()) ?? {}));
    for (const [, name = '', member] of ours.matchAll(/`(\w+)(?:\.(\w+))?`/g)) {
      const found: unknown = exported.get(name);
      expect(found, `${from}: ${name}`).toBeDefined();
      if (member === undefined) continue;
      const has = typeof found === 'function' && (member in found || member in (found.prototype as object));
      expect(has, `${from}: ${name}.${member}`).toBe(true);
    }
  }
});
