import { expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { launchBrowser } from './test-browser.ts';
import { startPerch } from './perch-process.ts';
import { connectOutside } from './outside-client.ts';

verifies(
  ['vault.hosts/moves', 'vault.hosts/auto'],
  'a program calls and calls while a tab comes and goes: no call fails, no event is missing, its line stays',
  async () => {
    await using perch = await startPerch();
    await using browser = await launchBrowser();
    using outside = await connectOutside(perch, 'all');
    const health = async (): Promise<unknown> => ((await (await perch.fetch('/health')).json()) as { host: unknown }).host;
    let done = false;
    let calls = 0;
    const calling = (async () => {
      for (; !done; calls++) {
        await outside.client.call('chat.send', { sessionId: `s-${calls % 5}`, message: `question ${calls}` });
        const { sessions } = await outside.client.call('sessions.list', {});
        expect(sessions.some(({ sessionId }) => sessionId === `s-${calls % 5}`)).toBe(true);
      }
    })();
    calling.catch(() => {});
    for (let round = 0; round < 3; round++) {
      const page = await browser.page(round === 0 ? perch.linkUrl : perch.url);
      await Promise.race([waitFor(async () => (await health()) === 'tab', 'the tab to serve'), calling]);
      const before = calls;
      await Promise.race([waitFor(() => calls > before + 3, 'calls to go on'), calling]);
      await page.close();
      await Promise.race([waitFor(async () => (await health()) === 'headless', 'the managed one to serve'), calling]);
    }
    done = true;
    await calling;
    const sequence = outside.events.map(({ seq }) => seq);
    const [first = 0] = sequence;
    expect(sequence).toEqual(sequence.map((_, at) => first + at));
  },
  60_000,
);
