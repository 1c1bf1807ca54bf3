import { readdir, readFile, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const COMPRESSIBLE = new Set(['.html', '.js', '.mjs', '.json', '.css', '.svg', '.txt']);
/** Number of files compressed at a time. Node runs zlib in a pool of four threads. */
const CONCURRENCY = 8;
/** The maximum quality of Brotli takes twenty times as long, for 8 % fewer bytes. */
const QUICK_QUALITY = 9;

/** Writes a `.br` and a `.gz` version of each text file of a folder, which the bridge serves. */
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

/** Whether a file is a large one that is copied into the app after the build. Compressing these would double the installed size. */
const isCopied = (name: string): boolean => /^(ort-wasm|mermaid-)/.test(name);
