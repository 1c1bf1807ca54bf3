import { type CDPSession, chromium, type Page } from 'playwright';
import { expect } from 'vitest';
import { QUIET_ARGS } from '../../bridge/headless/launch-options.ts';
import { Screencast } from '../../bridge/capabilities/browser/screencast.ts';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { findBrowserProgram } from './perch-process.ts';

/** Draws all the time, and looks the same: a corner that is a shade of white. */
const STATIC_LOOKING_PAGE = `<!doctype html><body style="margin: 0; background: #fff"><div id="d" style="width: 1px; height: 1px"></div><script>
let n = 0; const turn = () => { d.style.background = n++ % 2 ? '#fff' : '#fefefe'; if (self.go) requestAnimationFrame(turn); };</script>`;
const SIZE = { maxWidth: 320, maxHeight: 200, quality: 20 };

/** The page, whose acknowledgements to Chromium wait while they are held, as on a machine that is busy. */
function holdAcknowledgements(page: Page): { page: Page; pictures: string[]; hold(): void; release(): void } {
  const pictures: string[] = [];
  let waiting: (() => void)[] | undefined;
  const newCDPSession = async (): Promise<CDPSession> => {
    const session = await page.context().newCDPSession(page);
    session.on('Page.screencastFrame', ({ data }) => void pictures.push(data));
    session.send = new Proxy(session.send, {
      apply: async (send, _, args: Parameters<CDPSession['send']>) => {
        if (args[0] === 'Page.screencastFrameAck' && waiting) await new Promise<void>((resolve) => waiting?.push(resolve));
        return Reflect.apply(send, session, args);
      },
    });
    return session;
  };
  const context = new Proxy(page.context(), { get: (of, key) => (key === 'newCDPSession' ? newCDPSession : Reflect.get(of, key)) });
  return {
    page: new Proxy(page, { get: (of, key) => (key === 'context' ? () => context : Reflect.get(of, key)) }),
    pictures,
    hold: () => void (waiting = []),
    release: () => {
      const each = waiting ?? [];
      waiting = undefined;
      for (const go of each) go();
    },
  };
}

verifies(
  'browser/watch-slow',
  'a change that Chromium made no picture of, for others that look like the last were on their way',
  async () => {
    const browser = await chromium.launch({
      executablePath: await findBrowserProgram(),
      chromiumSandbox: process.getuid?.() !== 0,
      args: [...QUIET_ARGS],
    });
    try {
      const page = await browser.newPage();
      await page.setContent(STATIC_LOOKING_PAGE);
      const held = holdAcknowledgements(page);
      const shown: string[] = [];
      await using screencast = await Screencast.start(held.page, SIZE, ({ data }) => void shown.push(data), AbortSignal.timeout(20_000));
      screencast.continue();
      const before = held.pictures.length;
      held.hold();
      await page.evaluate('self.go = true; turn()');
      // As many as Chromium has on their way, and then makes no more.
      await waitFor(() => held.pictures.length >= before + 3, 'three pictures that look the same');
      expect(new Set(held.pictures).size).toBe(1);
      await page.evaluate(
        '(async () => { self.go = false; document.body.style.background = "lime"; for (let n = 0; n < 10; n++) await new Promise(requestAnimationFrame); })()',
      );
      expect(shown).toHaveLength(1);
      held.release();
      await waitFor(() => shown.length === 2, 'the last change');
    } finally {
      await browser.close();
    }
  },
);
