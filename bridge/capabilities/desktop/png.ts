import { crc32, deflateSync } from 'node:zlib';

/** Rows of pixels from the top, four bytes each: red, green, blue, alpha. */
interface Pixels {
  width: number;
  height: number;
  data: Uint8Array;
}

/** Encodes opaque pixels as a PNG without alpha. */
export function encodePng({ width, height, data }: Pixels): Buffer {
  const rowBytes = 1 + width * 3;
  const rows = Buffer.alloc(rowBytes * height);
  for (let y = 0; y < height; y++) {
    // Filter type Sub (difference from the pixel to the left), which compresses screens well.
    rows[y * rowBytes] = 1;
    for (let x = 0; x < width; x++) {
      for (let c = 0; c < 3; c++) {
        const at = (y * width + x) * 4 + c;
        rows[y * rowBytes + 1 + x * 3 + c] = (data[at] ?? 0) - (x > 0 ? (data[at - 4] ?? 0) : 0);
      }
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Eight bits per sample; red, green and blue.
  header.set([8, 2], 8);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    createChunk('IHDR', header),
    createChunk('IDAT', deflateSync(rows)),
    createChunk('IEND', Buffer.alloc(0)),
  ]);
}

function createChunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(crc32(body), body.length + 4);
  return out;
}

/** Scales down by an integer factor, averaging `factor` × `factor` pixels. */
function scaleDown({ width, height, data }: Pixels, factor: number): Pixels {
  const [columns, rows] = [Math.max(1, Math.floor(width / factor)), Math.max(1, Math.floor(height / factor))];
  const out = new Uint8Array(columns * rows * 4);
  for (let y = 0; y < rows; y++) {
    for (let x = 0; x < columns; x++) {
      for (let c = 0; c < 4; c++) {
        let sum = 0;
        let count = 0;
        for (let dy = y * factor; dy < Math.min(height, (y + 1) * factor); dy++)
          for (let dx = x * factor; dx < Math.min(width, (x + 1) * factor); dx++, count++) sum += data[(dy * width + dx) * 4 + c] ?? 0;
        out[(y * columns + x) * 4 + c] = Math.round(sum / count);
      }
    }
  }
  return { width: columns, height: rows, data: out };
}

/** Encodes a PNG of at most `maxBytes` bytes, scaled down if necessary. */
export function encodePngWithin(pixels: Pixels, maxBytes: number): { png: Buffer; width: number; height: number } {
  for (let factor = 1; ; factor++) {
    const scaled = factor === 1 ? pixels : scaleDown(pixels, factor);
    const png = encodePng(scaled);
    if (png.length <= maxBytes) return { png, width: scaled.width, height: scaled.height };
  }
}
