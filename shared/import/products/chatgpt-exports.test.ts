import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { configure } from '@zip.js/zip.js';
import { expect } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { readImport } from '../read-import.ts';

configure({ useWebWorkers: false });

/** The chats of an export of ChatGPT in `exports`: their titles, and role, text and model of each message. */
async function readChats(name: string) {
  const blob = new Blob([readFileSync(join(import.meta.dirname, 'exports', name))]);
  const { chats } = await readImport([{ path: name, blob }]);
  return chats.map((each) => {
    const { title, messages } = each.kind === 'other' ? each.chat : expect.fail('is one of Perch');
    return [title, ...messages.map(({ role, text, model }) => [role, text, model])];
  });
}

const MODEL = 'gpt-5-thinking';

verifies(
  'chats.app/import',
  'of ChatGPT as it writes its exports: in several files, of voice chats, with the model of a chat',
  async () => {
    expect(await readChats('chatgpt-split-export.zip')).toEqual([
      ['Chat 3', ['user', 'Question 3', undefined], ['assistant', 'Answer 3', MODEL]],
      ['Chat 4', ['user', 'Question 4', undefined], ['assistant', 'Answer 4', MODEL]],
    ]);
    expect(await readChats('chatgpt-voice.json')).toEqual([
      ['Chat 7', ['user', 'How do I bake bread', undefined], ['assistant', 'Mix flour and water', MODEL]],
    ]);
    expect(await readChats('chatgpt-model-slug.json')).toEqual([
      ['Chat 6', ['user', 'Question 6', undefined], ['assistant', 'Answer 6', MODEL]],
    ]);
  },
);
