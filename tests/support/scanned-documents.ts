import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PDFDocument } from '@cantoo/pdf-lib';
import type { Page } from 'playwright';

const ENGLISH = '/usr/share/tesseract-ocr/5/tessdata/eng.traineddata';

/** English language data, as Debian's package `tesseract-ocr-eng` has it; undefined, with a printed reason, if it is not installed. */
export function readLanguageData(): Buffer | undefined {
  try {
    return readFileSync(ENGLISH);
  } catch {
    console.warn(`skipped: ${ENGLISH} is missing (apt-get install --no-install-recommends tesseract-ocr-eng)`);
    return undefined;
  }
}

interface LanguageDataServer extends AsyncDisposable {
  url: string;
  /** Paths of the requests. */
  requestedPaths: string[];
}

/** Serves language data by its file names to pages of every origin. */
export async function serveLanguageData(files: Record<string, Buffer>): Promise<LanguageDataServer> {
  const requestedPaths: string[] = [];
  const server = createServer((request, response) => {
    requestedPaths.push(request.url ?? '');
    const file = files[(request.url ?? '').slice(1)];
    response.writeHead(file ? 200 : 404, { 'access-control-allow-origin': '*' }).end(file);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requestedPaths,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A PDF whose pages are pictures of lines of text, painted by a browser page. */
export async function createScannedPdf(page: Page, pages: readonly (readonly string[])[]): Promise<Uint8Array<ArrayBuffer>> {
  const document = await PDFDocument.create();
  for (const lines of pages) {
    const url = await page.evaluate((texts) => {
      const canvas = Object.assign(globalThis.document.createElement('canvas'), { width: 1240, height: 877 });
      const context = canvas.getContext('2d');
      if (!context) throw new Error('no canvas');
      context.fillStyle = '#fff';
      context.fillRect(0, 0, canvas.width, canvas.height);
      context.fillStyle = '#000';
      context.font = '40px sans-serif';
      for (const [index, text] of texts.entries()) context.fillText(text, 80, 120 + index * 80);
      return canvas.toDataURL('image/png');
    }, lines);
    const picture = await document.embedPng(url);
    document.addPage([595, 421]).drawImage(picture, { x: 0, y: 0, width: 595, height: 421 });
  }
  return new Uint8Array(await document.save());
}
