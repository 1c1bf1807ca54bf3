import { readdir, readFile, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const COMPRESSIBLE = new Set(['.html', '.js', '.mjs', '.json', '.css', '.svg', '.txt']);
/** Files in work at a time: zlib has four threads. */
const CONCURRENCY = 8;
/** Brotli's best takes twenty times as long as this, for 8 % fewer bytes. */
const QUICK_QUALITY = 9;

/** Writes a `.br` and a `.gz` version next to each text file of a folder. The bridge serves these. */
export async function compressFolder(folder: string, { quickly: isQuick = false }: { quickly?: boolean } = {}): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  const files = entries.flatMap((entry) =>
    entry.isFile() && COMPRESSIBLE.has(extname(entry.name)) && !isCopied(entry.name) ? [join(entry.parentPath, entry.name)] : [],
  );
  const quality = isQuick ? QUICK_QUALITY : constants.BROTLI_MAX_QUALITY;
  const compressNext = async (): Promise<void> => {
    for (let file = files.pop(); file !== undefined; file = files.pop()) {
      const contents = await readFile(file);
      const params = { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: contents.length };
      await Promise.all([
        promisify(brotliCompress)(contents, { params }).then((compressed) => writeFile(`${file}.br`, compressed)),
        promisify(gzip)(contents, { level: constants.Z_BEST_COMPRESSION }).then((compressed) => writeFile(`${file}.gz`, compressed)),
      ]);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, compressNext));
}

/** Large files that are copied into the app after the build: compressed three times over they would double what Perch takes on a disk. */
const isCopied = (name: string): boolean => /^(ort-wasm|mermaid-)/.test(name);
