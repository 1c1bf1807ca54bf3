import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { findLowContrast, findOverflow, waitForNoProblems, tabTo } from './accessibility.ts';
import { openLinkedPage } from './connection-status.ts';
import { connectOutside } from './outside-client.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { takeScreenshots } from './take-screenshots.ts';

const SUMMARY =
  '## Goals\n\n- Sail to Oslo in June\n- Keep the cost under 2,000 euros\n\n## Progress\n\nThe boat is ready, the crew is not.\n\n## Next steps\n\n- Buy the map';

const getSpokenMessages = (at: number): string =>
  at % 2
    ? `We could leave on day ${at}, when the wind turns. The harbour master says that the fog lifts before noon, so there is no hurry.`
    : `And what about day ${at}?`;

describe('a chat summarised for its model', () => {
  const at = useGatewayAndBrowser();

  verifies('compaction.app/mark', 'shows its position, opens by keyboard, and keeps earlier messages', async () => {
    const lines = Array.from({ length: 8 }, (_, index) =>
      JSON.stringify({
        ...{ id: `m${index}`, role: index % 2 ? 'assistant' : 'user', content: getSpokenMessages(index), timestamp: Date.now() },
        parentId: index === 0 ? null : `m${index - 1}`,
        ...(index === 3
          ? {
              compaction: {
                summary: SUMMARY,
                trigger: 'threshold',
                messages: 1204,
                tokensBefore: 108_801,
                tokensAfter: 39_214,
                model: 'openai/gpt-5.4',
                at: Date.now(),
              },
            }
          : {}),
      }),
    );
    {
      using outside = await connectOutside(at.perch);
      await outside.client.call('sessions.import', { content: lines.join('\n'), sessionId: 'sailing', title: 'Sailing' });
    }
    const page = await openLinkedPage(at.browser, at.perch);
    await page.goto(`${at.perch.url}/chat/main/sailing`);
    const mark = page.getByText('Earlier messages summarised');
    await mark.waitFor();
    expect(await page.getByText(getSpokenMessages(2)).isVisible()).toBe(true);
    const order = await page.locator('.row').allInnerTexts();
    expect(order.findIndex((text) => text.includes('Earlier messages summarised'))).toBe(4);
    expect(await page.getByText('Sail to Oslo').isVisible()).toBe(false);
    await takeScreenshots(page, 'closed');
    await tabTo(page, /Earlier messages summarised/);
    await page.keyboard.press('Enter');
    await page.getByText('Sail to Oslo').waitFor();
    expect(await page.getByRole('region', { name: 'Summary' }).innerText()).toContain('1,204 messages · 108,801 → 39,214 tokens');
    expect(await waitForNoProblems(async () => [...(await findLowContrast(page)), ...(await findOverflow(page))], 'open')).toEqual([]);
    await takeScreenshots(page, 'open');
    // By hand, from the list.
    await page.getByRole('button', { name: 'More actions for Sailing' }).click();
    await page.getByRole('menuitem', { name: 'Summarise earlier messages' }).click();
    await page
      .getByText(/couldn’t|cannot|can’t|no model/i)
      .first()
      .waitFor();
    await takeScreenshots(page, 'refused');
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });
});
