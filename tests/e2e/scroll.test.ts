import type { Page } from 'playwright';
import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { useReplyFixture, sendMessage, toCodeBlock, replies } from './reply-fixture.ts';
import { waitForConnection, LINKED_STATUS } from './connection-status.ts';
import { connectOutside } from './outside-client.ts';

const view = (page: Page) => page.getByRole('region', { name: 'Messages' });
const getScrollTop = (page: Page): Promise<number> => view(page).evaluate(({ scrollTop }) => scrollTop);
const getScrollLeft = (page: Page): Promise<number> =>
  view(page).evaluate(({ scrollHeight, clientHeight, scrollTop }) => scrollHeight - clientHeight - scrollTop);

describe('the scroll position during a reply', () => {
  const at = useReplyFixture();

  verifies(
    'app/scroll',
    'is theirs from the first key or 3 px of the wheel upward, and the end is followed again once they are back there',
    async () => {
      const page = await at.browser.page(at.perch.url);
      await waitForConnection(page, LINKED_STATUS);
      const answer = at.model.beginReply();
      await sendMessage(page, 'Tell me everything');
      let writes = true;
      const written = (async () => {
        for (let line = 0; writes; line++) {
          await answer.sendText(`Line ${line} of what there is to tell.\n\n`);
          await new Promise((next) => setTimeout(next, 60));
        }
      })();
      await waitFor(async () => (await getScrollTop(page)) > 1_000, 'the end to be followed');
      const jump = page.getByRole('button', { name: 'Jump to latest' });

      await page.mouse.move(600, 300);
      await page.mouse.wheel(0, -2);
      const before = await getScrollTop(page);
      await waitFor(async () => (await getScrollTop(page)) > before + 100, 'two pixels to change nothing');

      // The button to the end leaves the keyboard there.
      await view(page).focus();
      for (const [how, move] of [
        ['the wheel', () => page.mouse.wheel(0, -4)],
        ['PageUp', () => page.keyboard.press('PageUp')],
        ['ArrowUp', () => page.keyboard.press('ArrowUp')],
        ['Home', () => page.keyboard.press('Home')],
        ['Shift+Space', () => page.keyboard.press('Shift+Space')],
      ] as const) {
        await move();
        await jump.waitFor();
        // Keys travel for some frames.
        await new Promise((over) => setTimeout(over, 500));
        const topBefore = await getScrollTop(page);
        const behind = await getScrollLeft(page);
        await waitFor(async () => (await getScrollLeft(page)) > behind + 100, 'more to come below');
        expect(await getScrollTop(page), how).toBe(topBefore);
        await jump.click();
        await waitFor(async () => (await getScrollLeft(page)) < 200, `the end after ${how}`);
        await jump.waitFor({ state: 'detached' });
      }

      writes = false;
      await written;
      await answer.end();
      expect(at.browser.complaints).toEqual([]);
      await page.close();
    },
  );

  verifies('app/scroll', 'stays where a diagram or a picture above it gets its height: that is there before the reader is', async () => {
    const picture = {
      type: 'image',
      mimeType: 'image/png',
      data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    };
    const paragraphs = [
      { id: 'q', role: 'user', content: [{ type: 'text', text: 'Look' }, picture] },
      { id: 'a', parentId: 'q', role: 'assistant', content: `${toCodeBlock('mermaid', 'graph TD\nA-->B')}\n\n${'A line.\n\n'.repeat(18)}` },
    ];
    using outside = await connectOutside(at.perch);
    const content = paragraphs.map((each, nth) => JSON.stringify({ timestamp: nth + 1, ...each })).join('\n');
    await outside.client.call('sessions.import', { sessionId: 'above', content });
    const page = await at.browser.page(`${at.perch.url}/chat/main/above`);
    await waitForConnection(page, LINKED_STATUS);
    const drawn = page.getByRole('article').locator('img');
    await waitFor(async () => (await drawn.count()) === 2, 'the picture and the diagram');
    expect(await getScrollLeft(page)).toBeLessThan(2);
    for (const each of await drawn.all()) expect((await each.boundingBox())?.y).toBeLessThan(0);
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });

  verifies('app/scroll', 'is the end of the chat after End, however far up it was read', async () => {
    using outside = await connectOutside(at.perch);
    const content = Array.from({ length: 400 }, (_, nth) => ({
      ...{ id: `m${nth}`, ...(nth > 0 && { parentId: `m${nth - 1}` }), role: nth % 2 ? 'assistant' : 'user' },
      ...{ timestamp: nth + 1, content: `Message ${nth}\n\n${'More of it.\n\n'.repeat(3)}` },
    }));
    await outside.client.call('sessions.import', { sessionId: 'far', content: content.map((each) => JSON.stringify(each)).join('\n') });
    const { messages } = await outside.client.call('chat.history', { sessionId: 'far', limit: 1_000 });
    const page = await at.browser.page(`${at.perch.url}/chat/main/far#message-${messages[41]?.id ?? ''}`);
    await waitForConnection(page, LINKED_STATUS);
    await page.getByText('Message 41', { exact: true }).waitFor();
    expect(await page.getByText('Message 399', { exact: true }).count()).toBe(0);
    await view(page).focus();
    await page.keyboard.press('End');
    await page.getByText('Message 399', { exact: true }).waitFor();
    await waitFor(async () => (await getScrollLeft(page)) < 2, 'the end');
    await page.close();
  });

  verifies('app/scroll', 'is the end, where a chat begins with a message that is higher than the window', async () => {
    const page = await at.browser.page(at.perch.url);
    await page.setViewportSize({ width: 360, height: 780 });
    await waitForConnection(page, LINKED_STATUS);
    const answer = at.model.beginReply();
    await sendMessage(page, 'A long message. '.repeat(110));
    await answer.sendText('It begins.\n\n');
    await replies(page).getByText('It begins.').waitFor();
    await waitFor(async () => (await getScrollTop(page)) > 100 && (await getScrollLeft(page)) < 2, 'the end to be followed');
    await answer.sendText('Line of it.\n\n'.repeat(30));
    await answer.sendText('It ends.');
    await answer.end();
    await replies(page).getByText('It ends.').waitFor();
    await waitFor(async () => (await getScrollLeft(page)) < 2, 'the end to be in sight');
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });
});
