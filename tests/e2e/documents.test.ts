import { expect } from 'vitest';
import { toBase64 } from '#shared/base64.ts';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { createDocx, toPdfLines, createPdf, createPptx, createXlsx } from '../support/office-files.ts';
import { launchBrowser } from './test-browser.ts';
import { type Perch, startPerch } from './perch-process.ts';
import { connectOutside } from './outside-client.ts';

/** Sends each kind of file and has the guide read it; resolves with what it answered. */
async function readWithGuide(perch: Perch): Promise<string[]> {
  using outside = await connectOutside(perch);
  const files = {
    'a.pdf': await createPdf(Array.from({ length: 3 }, (_, index) => toPdfLines(index + 1, 5))),
    'a.docx': await createDocx(),
    'a.xlsx': await createXlsx(),
    'a.pptx': await createPptx(),
    'broken.pdf': new TextEncoder().encode('no PDF'),
  };
  const answers: string[] = [];
  for (const [filename, bytes] of Object.entries(files)) {
    const tool = `read_${filename.slice(filename.indexOf('.') + 1)}`;
    const attachments = [{ filename, mimeType: 'application/octet-stream', content: toBase64(bytes) }];
    await outside.client.call('chat.send', { message: `/tool ${tool} {"attachment":"${filename}"}`, attachments });
    const { messages } = await outside.client.call('chat.history', { sessionId: 'main' });
    answers.push(JSON.stringify(messages.slice(-3)));
  }
  return answers;
}

const FILE_WORDS = ['Page 3, line 5', 'Annual report', '2023-03-15', 'Say hello', 'broken.pdf can’t be read'];

verifies(['office/pdf', 'office/docx', 'office/xlsx', 'office/pptx'], 'in the managed browser, under the app’s policy', async () => {
  await using perch = await startPerch();
  const answers = await readWithGuide(perch);
  for (const [index, words] of FILE_WORDS.entries()) expect(answers[index]).toContain(words);
});

verifies('office/pdf', 'in a worker that a tab lends, which nothing else waits for', async () => {
  await using perch = await startPerch({ host: 'tab' });
  await using browser = await launchBrowser();
  const page = await browser.page(perch.linkUrl);
  await waitFor(async () => (await perch.fetch('/v1/models')).ok, 'a host', 30_000);
  const answers = await readWithGuide(perch);
  for (const [index, words] of FILE_WORDS.entries()) expect(answers[index]).toContain(words);
  expect(page.workers()).toHaveLength(1);
  expect(browser.complaints).toEqual([]);
  expect(browser.foreignRequests).toEqual([]);
});
