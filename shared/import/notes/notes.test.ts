import { BlobReader, BlobWriter, configure, TextReader, Uint8ArrayReader, ZipWriter } from '@zip.js/zip.js';
import { expect } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import type { SelectedFile } from '../import-files.ts';
import { parseCsv } from './parse-csv.ts';
import { readNotes } from './read-notes.ts';

configure({ useWebWorkers: false });

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47]);
async function zip(files: Readonly<Record<string, string | Uint8Array | Blob>>): Promise<Blob> {
  const writer = new ZipWriter(new BlobWriter());
  for (const [path, content] of Object.entries(files)) {
    if (content instanceof Blob) await writer.add(path, new BlobReader(content));
    else await writer.add(path, typeof content === 'string' ? new TextReader(content) : new Uint8ArrayReader(content));
  }
  return writer.close();
}
const folder = (files: Readonly<Record<string, string | Uint8Array>>): SelectedFile[] =>
  Object.entries(files).map(([path, content]) => ({ path, blob: new Blob([content as string]) }));
const texts = (pages: readonly { path: string; text: string }[]) => Object.fromEntries(pages.map(({ path, text }) => [path, text]));
const paths = (list: readonly { path: string }[]): string[] => list.map(({ path }) => path);

verifies('wiki.app/import-products', 'of Obsidian: pages as they are and pictures; hidden and other files are named', async () => {
  const files = {
    'vault/Cats.md': '![[miso.png]] [[Dogs]]',
    'vault/sub/Dogs.markdown': '# Dogs',
    'vault/img/miso.png': PNG,
    'vault/.obsidian/app.json': '{}',
    'vault/plan.canvas': '{}',
    'vault/Bad.md': Uint8Array.of(0xff, 0xfe),
    'vault/claims.jsonl': '{}',
  };
  for (const selection of [
    [{ path: 'v.zip', blob: await zip(files) }],
    folder(Object.fromEntries(Object.entries(files).map(([path, content]) => [path.slice(6), content]))),
  ]) {
    const notes = await readNotes(selection);
    expect(notes.product).toBe('Obsidian');
    expect(texts(notes.pages)).toEqual({ 'Cats.md': '![[miso.png]] [[Dogs]]', 'sub/Dogs.md': '# Dogs' });
    expect(paths(notes.pictures)).toEqual(['img/miso.png']);
    expect(paths(notes.claims)).toEqual(['claims.jsonl']);
    expect(notes.leftOut).toEqual(['.obsidian/app.json', 'plan.canvas']);
    expect(notes.rejected).toEqual([{ path: 'Bad.md', why: 'notUtf8' }]);
  }
});

verifies('wiki.app/import-products', 'of Notion: names without IDs, links that still lead there, databases as tables', async () => {
  const id = (n: number): string => String(n).padStart(32, 'a');
  const inner = await zip({
    [`Export-1/Home ${id(1)}.md`]: `# Home\n\n[Tea](Home%20${id(1)}/Tea%20${id(2)}.md) [Recipes](Home%20${id(1)}/Recipes%20${id(3)}.csv) [web](https://x.test/a.md)\n\n![loaf](Home%20${id(1)}/loaf%20(1).png)`,
    [`Export-1/Home ${id(1)}/Tea ${id(2)}.md`]: `# Tea\n\n[Home](../Home%20${id(1)}.md)`,
    [`Export-1/Home ${id(1)}/Tea ${id(9)}.md`]: '# Another tea',
    [`Export-1/Home ${id(1)}/loaf (1).png`]: PNG,
    [`Export-1/Home ${id(1)}/Recipes ${id(3)}.csv`]: '\ufeffName,Time\nBread,3 h\n',
    [`Export-1/Home ${id(1)}/Recipes ${id(3)}_all.csv`]: '\ufeffName,Time\nBread,3 h\n"Soup, ""hot"" | cold",\n',
    [`Export-1/Home ${id(1)}/Recipes ${id(3)}/Bread ${id(4)}.md`]: '# Bread\n\nTime: 3 h',
    [`Export-1/Home ${id(1)}/Empty ${id(5)}.csv`]: 'Name\n',
  });
  const notes = await readNotes([{ path: 'notion.zip', blob: await zip({ 'Export-1-Part-1.zip': inner }) }]);
  expect(notes.product).toBe('Notion');
  expect(texts(notes.pages)).toEqual({
    'Home.md': '# Home\n\n[Tea](Home/Tea.md) [Recipes](Home/Recipes.md) [web](https://x.test/a.md)\n\n![loaf](Home/loaf%20%281%29.png)',
    'Home/Tea.md': '# Tea\n\n[Home](../Home.md)',
    'Home/Tea 2.md': '# Another tea',
    'Home/Recipes.md':
      '# Recipes\n\n| Name | Time |\n| --- | --- |\n| [[Home/Recipes/Bread\\|Bread]] | 3 h |\n| Soup, "hot" \\| cold |  |\n',
    'Home/Recipes/Bread.md': '# Bread\n\nTime: 3 h',
  });
  expect(paths(notes.pictures)).toEqual(['Home/loaf (1).png']);
  expect(notes.leftOut).toEqual([`Home ${id(1)}/Empty ${id(5)}.csv`]);
});

verifies('wiki.app/import-products', 'of Logseq: journals, properties, references to blocks, tasks, pictures', async () => {
  const id = '64f0c0de-1234-4abc-8def-0123456789ab';
  const notes = await readNotes([
    {
      path: 'graph.zip',
      blob: await zip({
        'graph/logseq/config.edn': '{}',
        'graph/journals/2026_11_03.md': `- TODO Buy tea\n- DONE See ((${id}))\n\t- {{embed ((${id}))}}\n- {{embed [[Tea]]}}\n- lost ((64f0c0de-0000-4abc-8def-0123456789ab))`,
        'graph/pages/Tea.md': `alias:: Chai, [[Cha]]\ntags:: #drink\nmaker:: Ana\n\n- Boil *water*\n  id:: ${id}\n  collapsed:: true\n  heat:: 90\n- ![pot](../assets/pot.png) #[[hot drink]]\n- \`\`\`\n  key:: value\n  \`\`\``,
        'graph/pages/Food___Bread.md': '- See [[Tea]] ![x](../assets/pot.png)',
        'graph/assets/pot.png': PNG,
      }),
    },
  ]);
  expect(notes.product).toBe('Logseq');
  expect(texts(notes.pages)).toEqual({
    'journals/2026-11-03.md':
      '---\naliases:\n  - "Nov 3rd, 2026"\n---\n- [ ] Buy tea\n- [x] See Boil *water* ([[Tea]])\n\t- Boil *water* ([[Tea]])\n- ![[Tea]]\n- lost ((64f0c0de-0000-4abc-8def-0123456789ab))\n',
    'Tea.md':
      '---\naliases:\n  - "Chai"\n  - "Cha"\ntags:\n  - "drink"\n"maker": "Ana"\n---\n- Boil *water*\n  heat: 90\n- ![pot](assets/pot.png) [[hot drink]]\n- ```\n  key:: value\n  ```\n',
    'Food/Bread.md': '---\naliases:\n  - "Food/Bread"\n---\n- See [[Tea]] ![x](../assets/pot.png)\n',
  });
  expect(paths(notes.pictures)).toEqual(['assets/pot.png']);
});

verifies('wiki.app/import-products', 'a damaged zip is refused as a whole; nothing leads out of the wiki', async () => {
  const complete = await zip({ 'A.md': 'x'.repeat(1000) });
  await expect(readNotes([{ path: 'a.zip', blob: complete.slice(0, -20) }])).rejects.toMatchObject({ refusal: 'brokenZip' });
  await expect(readNotes([{ path: 'a.zip', blob: new Blob(['no']) }])).rejects.toMatchObject({ refusal: 'brokenZip' });
  expect(paths((await readNotes(folder({ '../A.md': 'a', 'x/../../B.md': 'b', '/C.md': 'c' }))).pages)).toEqual(['C.md']);
  expect((await readNotes(folder({ 'A.md': 'a', 'a.md': 'b' }))).rejected).toEqual([{ path: 'a.md', why: 'twice' }]);
});

verifies('wiki.app/import-products', 'tables with quotes, commas and line breaks in cells', () => {
  expect(parseCsv('a,"b ""c"", d"\r\n"e\nf",\n\ng')).toEqual([['a', 'b "c", d'], ['e\nf', ''], ['g']]);
  expect(parseCsv('')).toEqual([]);
});
