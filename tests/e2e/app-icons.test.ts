import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { drawIcons, ICONS, MASKED_SHARE, PUBLIC_DIR } from '../icons/draw-icons.ts';
import { verifies } from '../requirements.ts';
import { launchBrowser, type TestBrowser } from './test-browser.ts';

describe('the icons of the app', () => {
  let browser: TestBrowser;
  beforeAll(async () => void (browser = await launchBrowser()));
  afterAll(() => browser?.[Symbol.asyncDispose]());

  verifies('app/installable', 'are those that `npm run icons` draws from the logo, and a mask crops nothing of the bird', async () => {
    const page = await browser.page('about:blank');
    const drawn = await drawIcons();
    for (const { file, size, bird } of ICONS) {
      const [storedIcon, fresh] = [readFileSync(join(PUBLIC_DIR, file)), drawn.get(file) ?? Buffer.alloc(0)].map((png) =>
        png.toString('base64'),
      );
      const pixelsEqual = await page.evaluate(
        async ([kept, fresh]) => {
          const pixels = async (base64 = ''): Promise<ImageData> => {
            const bitmap = await createImageBitmap(await (await fetch(`data:image/png;base64,${base64}`)).blob());
            const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
            if (!context) throw new Error('no canvas');
            context.drawImage(bitmap, 0, 0);
            return context.getImageData(0, 0, bitmap.width, bitmap.height);
          };
          const [a, b] = [await pixels(kept), await pixels(fresh)];
          const { width, height, data } = a;
          let differ = 0;
          let outside = 0;
          for (let at = 0; at < data.length; at += 4) {
            const differs = (other: Uint8ClampedArray, from: number): boolean =>
              [0, 1, 2, 3].some((channel) => Math.abs((data[at + channel] ?? 0) - (other[from + channel] ?? 0)) > 40);
            if (differs(b.data, at)) differ++;
            const [x, y] = [((at / 4) % width) + 0.5, Math.floor(at / 4 / width) + 0.5];
            // The first pixel is ground where it is drawn to the edge.
            if (Math.hypot(x - width / 2, y - height / 2) > width * 0.4 && differs(data, 0)) outside++;
          }
          return { width, height, share: differ / (data.length / 4), outside };
        },
        [storedIcon, fresh],
      );
      expect(pixelsEqual, file).toMatchObject({ width: size, height: size });
      expect(pixelsEqual.share, file).toBeLessThan(0.005);
      if (bird === MASKED_SHARE) expect(pixelsEqual.outside, file).toBe(0);
    }
  });
});
