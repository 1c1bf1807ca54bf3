import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => vi.unstubAllGlobals());

/** Loads the module as a page at this address would; `kept` is the tab's session storage. */
async function openedAt(search: string, kept = new Map<string, string>()) {
  vi.stubGlobal('location', { search, href: `https://perch.test/${search}`, origin: 'https://perch.test' });
  vi.stubGlobal('sessionStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  });
  vi.resetModules();
  return import('./demo.ts');
}

test.each(['?demo', '?demo=', '?demo=1', '?demo=yes', '?q=hello&demo'])('%s shows the demo', async (search) => {
  expect((await openedAt(search)).inDemo).toBe(true);
});

test.each(['', '?demo=0', '?demo=false', '?demo=no', '?demo=NO', '?demo=off', '?q=demo'])('%j does not', async (search) => {
  expect((await openedAt(search)).inDemo).toBe(false);
});

test('a tab stays in the demo until an address says no', async () => {
  const kept = new Map<string, string>();
  await openedAt('?demo', kept);
  expect((await openedAt('', kept)).inDemo).toBe(true);
  expect((await openedAt('?demo=0', kept)).inDemo).toBe(false);
  expect((await openedAt('', kept)).inDemo).toBe(false);
});

test('an address for another tab says whether it is the demo’s', async () => {
  expect((await openedAt('?demo')).addressOf('/approvals')).toBe('https://perch.test/approvals?demo=');
  expect((await openedAt('?demo=0')).addressOf('/approvals')).toBe('https://perch.test/approvals');
});
