import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readPublishedNames } from '../stored/published-names.ts';
import published from '../stored/published-names.json' with { type: 'json' };

// A removed or renamed member breaks programs that use the package. Add new names to the file with the release that publishes them.
test('the package still exports every published name, with all members', { timeout: 60_000 }, () => {
  const current = readPublishedNames(join(import.meta.dirname, '../..'));
  const missing = Object.entries(published).flatMap(([entry, names]) =>
    Object.entries(names).flatMap(([name, members]) => {
      const now = current[entry]?.[name];
      if (!now) return [`${entry}: ${name}`];
      return members.filter((member) => !now.includes(member)).map((member) => `${entry}: ${name}.${member}`);
    }),
  );
  expect(missing).toEqual([]);
});
