import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright';
import { findBrowserProgram } from '../e2e/perch-process.ts';

export const PUBLIC_DIR = join(import.meta.dirname, '../../public');

interface IconFile {
  file: string;
  /** Pixels of a side. */
  size: number;
  /** How large the bird is on a ground that goes to the edge, for systems that cut the shape themselves; undefined: the logo as it is. */
  bird?: number;
}

/** So large it is within the circle of 80 % that every mask leaves. */
export const MASKED_SHARE = 0.74;

export const ICONS: readonly IconFile[] = [
  { file: 'icon-192.png', size: 192 },
  { file: 'icon-512.png', size: 512 },
  { file: 'icon-maskable-192.png', size: 192, bird: MASKED_SHARE },
  { file: 'icon-maskable-512.png', size: 512, bird: MASKED_SHARE },
  { file: 'apple-touch-icon.png', size: 180, bird: 0.86 },
];

/** The logo without its round corners. */
function fillToEdges(logo: string, bird: number): string {
  const square = logo.replace(/(<rect width="64" height="64") rx="15"/, '$1');
  const inner = square.replace('<g ', `<g transform="translate(32 32) scale(${bird}) translate(-32 -32)"><g `);
  const whole = inner.replace(/<\/svg>\s*$/, '</g></svg>');
  if (square === logo || inner === square || whole === inner)
    throw new Error('public/favicon.svg is not drawn as it was: mend tests/icons/draw-icons.ts');
  return whole;
}

/** Draws the app's icons from its logo (`public/favicon.svg`): PNGs, by the names of their files. */
export async function drawIcons(): Promise<Map<string, Buffer>> {
  const logo = readFileSync(join(PUBLIC_DIR, 'favicon.svg'), 'utf8');
  const browser = await chromium.launch({ executablePath: await findBrowserProgram(), chromiumSandbox: process.getuid?.() !== 0 });
  try {
    const page = await browser.newPage({ deviceScaleFactor: 1 });
    const drawn = new Map<string, Buffer>();
    for (const { file, size, bird } of ICONS) {
      await page.setViewportSize({ width: size, height: size });
      const style = '<style>body { margin: 0 } svg { display: block; width: 100vw; height: 100vh }</style>';
      await page.setContent(`<!doctype html>${style}${bird === undefined ? logo : fillToEdges(logo, bird)}`);
      drawn.set(file, await page.screenshot({ omitBackground: bird === undefined }));
    }
    return drawn;
  } finally {
    await browser.close();
  }
}
