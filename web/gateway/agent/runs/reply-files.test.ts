import { expect } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { ReplyFiles } from './reply-files.ts';

const MB = 1024 * 1024;
const file = (size: number, change = {}) => ({ filename: 'a.bin', mimeType: 'application/zip', data: 'AA==', size, ...change });

verifies('tools/send-file', 'no more than a reply has room for; pictures are pictures', () => {
  const files = new ReplyFiles();
  expect(files.toContent('text')).toEqual({ content: 'text' });
  files.add(file(9 * MB, { note: 'First' }));
  files.add(file(9 * MB, { mimeType: 'image/png' }));
  expect(() => files.add(file(1))).toThrow('The files of a reply must not exceed 18 MB.');
  const { content, attachments } = files.toContent('');
  expect(content).toMatchObject([{ type: 'text', text: 'First' }, { type: 'file' }, { type: 'image' }]);
  expect(attachments).toHaveLength(2);
  const many = new ReplyFiles();
  for (let count = 0; count < 50; count++) many.add(file(0));
  expect(() => many.add(file(0))).toThrow('A reply can include at most 50 files.');
});
