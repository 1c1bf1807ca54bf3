import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => vi.unstubAllGlobals());

/** Loads the module as a page at this address would; `storage` is the tab's session storage. */
async function loadDemoAt(search: string, kept = new Map<string, string>()) {
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
  expect((await loadDemoAt(search)).isDemo).toBe(true);
});

test.each(['', '?demo=0', '?demo=false', '?demo=no', '?demo=NO', '?demo=off', '?q=demo'])('%j does not', async (search) => {
  expect((await loadDemoAt(search)).isDemo).toBe(false);
});

test('a tab stays in the demo until an address says no', async () => {
  const storage = new Map<string, string>();
  await loadDemoAt('?demo', storage);
  expect((await loadDemoAt('', storage)).isDemo).toBe(true);
  expect((await loadDemoAt('?demo=0', storage)).isDemo).toBe(false);
  expect((await loadDemoAt('', storage)).isDemo).toBe(false);
});

test('an address for another tab says whether it is the demo’s', async () => {
  expect((await loadDemoAt('?demo')).toFullAddress('/approvals')).toBe('https://perch.test/approvals?demo=');
  expect((await loadDemoAt('?demo=0')).toFullAddress('/approvals')).toBe('https://perch.test/approvals');
});
