import { BlobReader, BlobWriter, configure, TextReader, ZipWriter } from '@zip.js/zip.js';
import { expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { ByteBudget, type ImportFile, openZip, readBlob, readText } from './import-files.ts';

configure({ useWebWorkers: false });

async function zip(files: Readonly<Record<string, string | Blob>>): Promise<Blob> {
  const writer = new ZipWriter(new BlobWriter());
  for (const [path, content] of Object.entries(files))
    await writer.add(path, typeof content === 'string' ? new TextReader(content) : new BlobReader(content));
  return writer.close();
}

verifies(
  'chats.app/import-bad',
  'a zip that unpacks to more than it says, or than is allowed, is refused while it is unpacked',
  async () => {
    const bomb = await zip({ 'a.json': '[' + ' '.repeat(1_000_000) });
    const [file] = await openZip(bomb);
    if (!file) return expect.fail('has no file');
    const liar: ImportFile = { ...file, size: 10 };
    await expect(readBlob(liar, 100_000)).rejects.toMatchObject({ refusal: 'innerTooLarge' });
    await expect(readText(liar, new ByteBudget(100_000))).rejects.toMatchObject({ refusal: 'innerTooLarge' });
    expect((await readText(liar, new ByteBudget(2_000_000))).length).toBe(1_000_001);
    // A budget is for all files together.
    const budget = new ByteBudget(1_500_000);
    await readText(liar, budget);
    await expect(readText(liar, budget)).rejects.toMatchObject({ refusal: 'innerTooLarge' });
  },
);

verifies('chats.app/import-bad', 'a zip within a zip is opened once; files of a Mac are no content; damage is found', async () => {
  const deep = await zip({ 'c.zip': await zip({ 'd.json': '{}' }), 'b.json': '{}' });
  const files = await openZip(await zip({ 'a.zip': deep, '__MACOSX/._a.json': 'x', '.DS_Store': 'x', 'x/': '' }));
  expect(files.map(({ path }) => path)).toEqual(['c.zip', 'b.json']);
  const zipBytes = new Uint8Array(await (await zip({ 'a.txt': 'hello '.repeat(100) })).arrayBuffer());
  // The checksum at the end of the file's data.
  const damaged = zipBytes.with(50, (zipBytes[50] ?? 0) ^ 0xff);
  const [file] = await openZip(new Blob([damaged]));
  await expect(file ? readText(file, new ByteBudget(10_000)) : undefined).rejects.toMatchObject({ name: 'Unimportable' });
});
