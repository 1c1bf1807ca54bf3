import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const folder = join(import.meta.dirname, '../../docs/decisions');
const records = readdirSync(folder).filter((name) => /^\d{4}-.*\.md$/.test(name));

test.each(records)('%s has a number and title, a status with its date, context, decision and consequences', (name) => {
  const text = readFileSync(join(folder, name), 'utf8');
  expect(text).toMatch(new RegExp(`^# ${name.slice(0, 4)} .+\n\n\\*\\*Status\\.\\*\\* .*\\d{4}-\\d\\d-\\d\\d`));
  const parts = [...text.matchAll(/^\*\*(Status|Context|Decision|Consequences)\.\*\*/gm)].map(([, part]) => part);
  expect(parts).toEqual(['Status', 'Context', 'Decision', 'Consequences']);
});

test('the index lists every record by its title and date, in order', () => {
  const index = readFileSync(join(folder, 'README.md'), 'utf8');
  const rows = records.sort().map((name) => {
    const text = readFileSync(join(folder, name), 'utf8');
    const title = /^# \d{4} (.+)$/m.exec(text)?.[1] ?? '';
    return `| [${name.slice(0, 4)}](${name}) | ${title} | ${/\d{4}-\d\d-\d\d/.exec(text)?.[0] ?? ''} |`;
  });
  expect(index.split('\n').filter((line) => /^\| \[\d/.test(line))).toEqual(rows);
});

test('links between records lead to files', () => {
  const broken = ['README.md', ...records].flatMap((name) =>
    [...readFileSync(join(folder, name), 'utf8').matchAll(/\]\((\d{4}-[^)]+\.md)\)/g)]
      .map(([, target]) => target ?? '')
      .filter((target) => !records.includes(target))
      .map((target) => `${name}: ${target}`),
  );
  expect(broken).toEqual([]);
});
