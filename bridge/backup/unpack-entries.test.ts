import { BlobReader, BlobWriter, TextReader, ZipReader, ZipWriter } from '@zip.js/zip.js';
import { expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { Unpacker } from './unpack-entries.ts';

const MB = 1024 * 1024;

verifies('vault.backup/limit', 'bytes are counted as they come out, whatever the headers say', async () => {
  const writer = new ZipWriter(new BlobWriter());
  await writer.add('zeros', new TextReader('0'.repeat(20 * MB)));
  const reader = new ZipReader(new BlobReader(await writer.close()));
  const [entry] = await reader.getEntries();
  if (!entry || entry.directory) throw new Error('The zip has no entry');
  let bytes = 0;
  await expect(new Unpacker(MB, 'too much').unpack(entry, (part) => void (bytes += part.length))).rejects.toThrow('too much');
  expect(bytes).toBeLessThanOrEqual(MB);
  await reader.close();
});
