import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { toBase64 } from '#shared/base64.ts';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { readLanguageData, createScannedPdf, serveLanguageData } from '../support/scanned-documents.ts';
import { launchBrowser, type TestBrowser } from './test-browser.ts';
import { type Perch, startPerch } from './perch-process.ts';
import { connectOutside } from './outside-client.ts';

const english = readLanguageData();
const PAGES = [
  ['The quick brown fox jumps', 'over the lazy dog.'],
  ['Invoice number 4711', 'Total 250 EUR'],
];

describe.skipIf(!english)('text of scans', () => {
  let browser: TestBrowser;
  let content: string;
  beforeAll(async () => {
    browser = await launchBrowser();
    const page = await browser.page('about:blank');
    content = toBase64(await createScannedPdf(page, PAGES));
    await page.close();
  });
  afterAll(() => browser?.[Symbol.asyncDispose]());

  /** The result of `read_pdf` for a scan, with language data from an address. */
  async function read(perch: Perch, dataUrl: string): Promise<string> {
    using outside = await connectOutside(perch);
    await outside.client.call('config.set', { key: 'documents.ocr.dataUrl', value: dataUrl });
    const attachments = [{ filename: 'scan.pdf', mimeType: 'application/pdf', content }];
    await outside.client.call('chat.send', { message: '/tool read_pdf {"attachment":"scan.pdf"}', attachments });
    const { messages } = await outside.client.call('chat.history', { sessionId: 'main' });
    return JSON.stringify(messages.slice(-3));
  }

  verifies(
    'office/ocr',
    'in the managed browser; the data are downloaded once, and their lack is said',
    async () => {
      await using perch = await startPerch();
      await using missing = await serveLanguageData({});
      expect(await read(perch, missing.url)).toMatch(
        /only images such as scans\. Language data “eng” .* couldn’t be downloaded from 127\.0\.0\.1:\d+: HTTP 404/,
      );
      await using server = await serveLanguageData({ 'eng.traineddata': english ?? Buffer.of() });
      for (let time = 0; time < 2; time++) {
        const answer = await read(perch, server.url);
        for (const words of ['[Text read from the picture of page 1]', ...PAGES.flat()]) expect(answer).toContain(words);
        expect(answer).toContain('Read from pictures by text recognition, which makes mistakes: pages 1-2');
      }
      expect(server.requestedPaths).toEqual(['/eng.traineddata']);
    },
    120_000,
  );

  verifies(
    'office/ocr',
    'in a worker that a tab lends, without a request to another server',
    async () => {
      await using perch = await startPerch({ host: 'tab' });
      await browser.page(perch.linkUrl);
      await waitFor(async () => (await perch.fetch('/v1/models')).ok, 'a host', 30_000);
      await using server = await serveLanguageData({ 'eng.traineddata': english ?? Buffer.of() });
      expect(await read(perch, `${server.url}/{language}.traineddata`)).toContain(PAGES[1]?.[0]);
      expect(browser.complaints).toEqual([]);
      expect(browser.foreignRequests.filter((url) => !url.startsWith(server.url))).toEqual([]);
    },
    120_000,
  );
});

verifies('office/ocr', 'the scan reader is beside the app, and no page or service worker loads it before', () => {
  const app = join(import.meta.dirname, '../../dist/app');
  const files = readdirSync(join(app, '_app/immutable'), { recursive: true, encoding: 'utf8' });
  expect(files.filter((file) => /tesseract.*\.wasm$/.test(file))).toHaveLength(1);
  expect(readFileSync(join(app, 'service-worker.js'), 'utf8')).not.toContain('.wasm"');
  const entries = files.filter((file) => /\.js$/.test(file) && !/chunks/.test(file));
  for (const file of entries) expect(readFileSync(join(app, '_app/immutable', file), 'utf8').includes('TessBaseAPI'), file).toBe(false);
});
