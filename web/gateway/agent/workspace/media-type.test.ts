import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { TextReader, Uint8ArrayWriter, ZipWriter } from '@zip.js/zip.js';
import { describe, expect } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { createCompoundFile, createDocx, createPdf, createZip } from '../../../../tests/support/office-files.ts';
import { detectMediaType } from './media-type.ts';

const text = (content: string): Uint8Array => new TextEncoder().encode(content);
const base64 = (content: string): Uint8Array => Buffer.from(content, 'base64');

const PNG = base64('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==');
const GIF = base64('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7');
const JPEG = base64(
  '/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA=',
);
const WEBP = base64('UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA');

/** 16-bit samples of silence. */
function wav(): Uint8Array {
  const bytes = Buffer.alloc(44 + 8);
  bytes.write('RIFF', 0);
  bytes.writeUInt32LE(bytes.length - 8, 4);
  bytes.write('WAVEfmt ', 8);
  for (const [value, at] of [
    [16, 16],
    [8000, 24],
    [16_000, 28],
    [8, 40],
  ] as const)
    bytes.writeUInt32LE(value, at);
  for (const [value, at] of [
    [1, 20],
    [1, 22],
    [2, 32],
    [16, 34],
  ] as const)
    bytes.writeUInt16LE(value, at);
  bytes.write('data', 36);
  return bytes;
}

function sqlite(): Uint8Array {
  const dir = mkdtempSync(join(tmpdir(), 'perch-type-'));
  try {
    const database = new DatabaseSync(join(dir, 'a.db'));
    database.exec('CREATE TABLE a (b)');
    database.close();
    return readFileSync(join(dir, 'a.db'));
  } finally {
    rmSync(dir, { recursive: true });
  }
}

const ISO = Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from('ftypisom\0\0\x02\0isommp41')]);
const WASM = Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
const OFFICE = 'application/vnd.openxmlformats-officedocument';

/** A ZIP whose local headers contain the sizes, as most programs write it. */
async function plainZip(parts: Record<string, string>): Promise<Uint8Array> {
  const zip = new ZipWriter(new Uint8ArrayWriter(), { useWebWorkers: false, dataDescriptor: false, extendedTimestamp: false });
  for (const [name, content] of Object.entries(parts)) await zip.add(name, new TextReader(content));
  return zip.close();
}

/** The order of parts that Office programs use. */
const office = (part: string, type: string): Promise<Uint8Array> =>
  plainZip({
    '[Content_Types].xml': `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/${part}" ContentType="${OFFICE}.${type}.main+xml"/></Types>`,
    '_rels/.rels': '<Relationships/>',
    [part]: '<a/>',
  });

describe('the type of a file', () => {
  verifies('workspace/media-type', 'by its content, whatever its name says', async () => {
    const kinds: [string, Uint8Array][] = [
      ['image/png', PNG],
      ['image/gif', GIF],
      ['image/jpeg', JPEG],
      ['image/webp', WEBP],
      ['audio/wav', wav()],
      ['video/mp4', ISO],
      ['application/wasm', WASM],
      ['application/pdf', await createPdf([[{ text: 'hello', x: 10, y: 10 }]])],
      ['application/gzip', gzipSync('hello')],
      ['application/zip', await createZip({ 'a.txt': 'hello' })],
      [`${OFFICE}.wordprocessingml.document`, await office('word/document.xml', 'wordprocessingml.document')],
      [`${OFFICE}.spreadsheetml.sheet`, await office('xl/workbook.xml', 'spreadsheetml.sheet')],
      [`${OFFICE}.presentationml.presentation`, await office('ppt/presentation.xml', 'presentationml.presentation')],
      ['application/x-sqlite3', sqlite()],
    ];
    for (const [type, bytes] of kinds)
      for (const name of ['file', 'a.txt', 'a.png', 'a.json', 'a.docx', 'x/y.unknown'])
        expect(await detectMediaType(name, bytes), `${name} of ${type}`).toBe(type);
  });

  verifies('workspace/media-type', 'texts by their endings; a text by the name of a picture is a text', async () => {
    const named: [string, string, string][] = [
      ['a.md', '# A', 'text/markdown'],
      ['a.csv', 'a,b\n', 'text/csv'],
      ['a.html', '<!doctype html><p>x', 'text/html'],
      ['a.json', '{}', 'application/json'],
      ['a.xml', '<?xml version="1.0"?><a/>', 'application/xml'],
      ['a', '<?xml version="1.0"?><a/>', 'application/xml'],
      ['a.ics', 'BEGIN:VCALENDAR\nEND:VCALENDAR\n', 'text/calendar'],
      ['a.svg', '<?xml version="1.0"?>\n<!-- made by hand -->\n<svg xmlns="http://www.w3.org/2000/svg"/>', 'image/svg+xml'],
      ['a.svg', '<svg></svg>', 'image/svg+xml'],
      ['a.svg', 'no drawing', 'text/plain'],
      ['a.txt', '<svg></svg>', 'text/plain'],
      ['a.rs', 'fn main() {}', 'text/plain'],
      ['README', 'hello', 'text/plain'],
      ['a.txt', '', 'text/plain'],
      ['a.MD', '# Ä', 'text/markdown'],
    ];
    for (const [name, content, type] of named) expect(await detectMediaType(name, text(content)), name).toBe(type);
    for (const name of ['a.png', 'a.jpg', 'a.pdf', 'a.docx', 'a.zip', 'a.mp3']) {
      expect(await detectMediaType(name, text('hello')), name).toBe('text/plain');
      expect(await detectMediaType(name, Uint8Array.from([0xff, 0, 1, 2, 3, 4])), name).toBe('application/octet-stream');
    }
    expect(await detectMediaType('a.csv', Buffer.from('\ufeffa,b', 'utf16le'))).toBe('text/csv');
    expect(await detectMediaType('a', brotliCompressSync(Buffer.from([1, 2, 255, 0])))).toBe('application/octet-stream');
  });

  verifies('workspace/media-type', 'types known only by extension, and truncated files', async () => {
    const old = createCompoundFile();
    expect(await detectMediaType('a.doc', old)).toBe('application/msword');
    expect(await detectMediaType('a.xls', old)).toBe('application/vnd.ms-excel');
    expect(await detectMediaType('a.txt', old)).toBe('application/x-cfb');
    // Written as a stream.
    const streamed = await createZip({ '[Content_Types].xml': '<Types/>', 'word/document.xml': '<a/>' });
    expect(await detectMediaType('a.docx', streamed)).toBe(`${OFFICE}.wordprocessingml.document`);
    expect(await detectMediaType('a.docx', await createDocx())).toBe('application/zip');
    for (const whole of [
      PNG,
      GIF,
      JPEG,
      WEBP,
      await office('word/document.xml', 'wordprocessingml.document'),
      gzipSync('x'.repeat(1000)),
      ISO,
    ])
      for (let length = 0; length < whole.length; length += Math.ceil(whole.length / 20))
        expect(await detectMediaType('a.txt', whole.subarray(0, length))).toMatch(/^[a-z]+\/[\w.+-]+$/);
  });
});
