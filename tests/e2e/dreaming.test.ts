import { createHash } from 'node:crypto';
import { describe, expect } from 'vitest';
import type { GatewayClient } from '../../shared/client/index.ts';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { DAY, toDate } from '../support/dreaming-fixtures.ts';
import { findLowContrast, listControls, findOverflow, waitForNoProblems } from './accessibility.ts';
import { waitForConnection, LINKED_STATUS, openLinkedPage } from './connection-status.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { takeScreenshots } from './take-screenshots.ts';
import { openDestination } from './navigate.ts';

const SPOKEN_TEXT = [
  'Miso is the cat of Ana and sleeps on the printer.',
  'The rent of the studio is 900 euros a month.',
  'Ana prefers tea to coffee in the morning.',
  'Bruno barks when the mail comes.',
];

/** Notes, and signals of what was recalled of them on two days. */
async function seedDreamSources(client: GatewayClient): Promise<void> {
  const now = Date.now();
  const path = `memory/${toDate(now - 3 * DAY)}.md`;
  const write = (file: string, content: string) => client.call('workspace.write', { workspace: 'main', path: file, content });
  await write(path, `# Notes\n\n${SPOKEN_TEXT.map((text) => `- ${text}\n`).join('')}`);
  const lines = SPOKEN_TEXT.map((content, index) => {
    const recalls = Array.from({ length: 4 - index }, (_, each) => ({
      ...{ query: `question ${index} ${each}`, score: 0.9 - index / 10, at: now - (each + 1) * DAY },
      day: toDate(now - (each + 1) * DAY),
    })).reverse();
    const content_hash = createHash('sha256').update(content.toLowerCase()).digest('hex');
    const about = { content, source_ref: `${path}#L${index + 3}`, query: 'question', tags: ['ana'], content_hash };
    return `${JSON.stringify({ ...about, created_at: now - 3 * DAY, recall_count: recalls.length, recalls })}\n`;
  });
  await write('.dreams/signals.jsonl', lines.join(''));
}

/** Colours change over some frames. */
const waitForFade = async (): Promise<void> => {
  for (let frames = 0; frames < 2; frames++) await new Promise(requestAnimationFrame);
  await Promise.allSettled(document.getAnimations().map(({ finished }) => finished));
};

describe('dreaming in the app', () => {
  const at = useGatewayAndBrowser();

  verifies('dreaming/app', 'dreamt by hand, reviewed by keyboard, a rejection taken back, the schedule set', async () => {
    const page = await openLinkedPage(at.browser, at.perch);
    await openDestination(page, 'Knowledge', 'Dreaming');
    const review = page.getByRole('region', { name: 'Suggestions' });
    await review.getByText('No suggestions.').waitFor();
    await page.getByText('No signals yet.').waitFor();
    await page.getByText('No runs yet').waitFor();
    await takeScreenshots(page, 'empty');

    const client = await at.perch.client();
    await seedDreamSources(client);
    await client.call('config.patch', { patch: { dreaming: { minScore: 0.4 } } });
    await page.getByRole('button', { name: 'Run now' }).click();
    const proposals = review.getByRole('list', { name: 'Suggestions' }).getByRole('listitem');
    await proposals.first().getByRole('button', { name: 'Accept' }).waitFor();
    expect(await proposals.count()).toBe(3);
    expect(await proposals.first().innerText()).toContain('Miso is the cat of Ana');
    await proposals.first().getByText('Why this was suggested').click();
    await proposals.first().getByText('Consolidation').waitFor();
    expect((await listControls(page)).filter((each) => each.endsWith(' ""'))).toEqual([]);
    await takeScreenshots(page, 'review');

    // By keyboard: the first is edited and kept, the next rejected, which is taken back.
    await proposals.first().getByRole('button', { name: 'Accept' }).focus();
    await page.keyboard.press('e');
    await page.getByLabel('Memory text').fill('Miso is the cat of Ana.');
    await page.getByRole('button', { name: 'Save memory' }).click();
    await review.getByText('Miso is the cat of Ana').waitFor({ state: 'detached' });
    expect(await proposals.count()).toBe(2);
    const second = await proposals.first().locator('p.text').innerText();
    // The keyboard is on what took its place.
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('r');
    await page.getByRole('button', { name: 'Undo' }).waitFor();
    await review.getByText(second).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await review.getByText(second, { exact: true }).first().waitFor();
    expect((await client.call('workspace.read', { workspace: 'main', path: 'MEMORY.md' })).content).toContain(
      '[fact] Miso is the cat of Ana.\n',
    );

    const signals = page.getByRole('region', { name: 'Signals' });
    await signals.getByLabel('Status').selectOption({ label: 'Below threshold' });
    await signals.getByText('Bruno barks when the mail comes.').click();
    await signals.getByText(/recalled 1 of 2 times/).waitFor();
    await signals.getByLabel('Status').selectOption({ label: 'All' });
    await signals.getByText(SPOKEN_TEXT[1] ?? '').waitFor();
    await page.getByRole('list', { name: 'Runs' }).getByText('Completed').first().click();
    await page.getByText('4 signals collected').waitFor();
    await takeScreenshots(page, 'all');

    const schedule = page.getByRole('region', { name: 'Schedule and limits' });
    await schedule.getByRole('textbox', { name: 'Schedule' }).fill('0 25 * * *');
    await schedule.getByText('Use 0 to 23').waitFor();
    expect(await schedule.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await schedule.getByRole('textbox', { name: 'Schedule' }).fill('30 4 * * MON-FRI');
    await schedule.getByText(/Runs Monday to Friday at 04:30\./).waitFor();
    await schedule.getByLabel('Time zone').fill('No/Where');
    await schedule.getByRole('switch', { name: 'Run on a schedule' }).check();
    await schedule.getByRole('button', { name: 'Save' }).click();
    await schedule.getByRole('alert').getByText('INVALID_PARAMS').waitFor({ state: 'attached' });
    await schedule.getByLabel('Time zone').fill('Europe/Berlin');
    await schedule.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Runs Monday to Friday at 04:30.', { exact: true }).waitFor();
    expect((await client.call('config.get', { key: 'dreaming' })).value).toMatchObject({
      enabled: true,
      cron: '30 4 * * MON-FRI',
      timezone: 'Europe/Berlin',
    });
    await takeScreenshots(page, 'schedule');
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.evaluate(waitForFade);
      expect(await waitForNoProblems(() => findLowContrast(page), colorScheme)).toEqual([]);
      for (const width of [360, 768, 1280, 1920]) {
        await page.setViewportSize({ width, height: 900 });
        // The sidebar goes, and comes, a moment after the width has changed.
        expect(await waitForNoProblems(() => findOverflow(page), `${width}`)).toEqual([]);
      }
    }
    client.close();
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });

  verifies('dreaming.app/limits', 'weights and limits are set within their ranges, and put back to their defaults', async () => {
    const client = await at.perch.client();
    await client.call('config.patch', { patch: { dreaming: null } });
    const given = async (): Promise<unknown> => {
      const { value, isDefault } = await client.call('config.get', { key: 'dreaming' });
      return isDefault ? {} : value;
    };
    const page = await at.browser.page(`${at.perch.url}/dreaming`);
    await waitForConnection(page, LINKED_STATUS);
    const schedule = page.getByRole('region', { name: 'Schedule and limits' });
    const save = schedule.getByRole('button', { name: 'Save' });
    await schedule.getByText('Limits', { exact: true }).click();
    await schedule.getByText('Weights', { exact: true }).click();
    expect(await schedule.getByRole('button', { name: /^Reset/ }).count()).toBe(0);

    // A value out of range is reported next to its field, and nothing is saved.
    const most = schedule.getByRole('spinbutton', { name: 'Maximum suggestions per run' });
    await most.fill('0');
    await schedule.getByText('Enter a whole number from 1 to 1,000.').waitFor();
    expect(await most.getAttribute('aria-invalid')).toBe('true');
    expect(await save.isDisabled()).toBe(true);
    await most.fill('5');
    const frequency = schedule.getByLabel(/^Frequency/);
    await frequency.fill('-1');
    await schedule.getByText('Enter a number from 0 to 100.').waitFor();
    expect(await save.isDisabled()).toBe(true);
    expect(await given()).toEqual({});

    // All weights but one at none: that one is all of the score.
    for (const name of [/^Relevance/, /^Diversity/, /^Recency/, /^Consolidation/, /^Concepts/]) await schedule.getByLabel(name).fill('0');
    await frequency.fill('0');
    await schedule.getByText('At least one weight must be above 0.').waitFor();
    expect(await save.isDisabled()).toBe(true);
    await frequency.fill('60');
    await schedule.getByText('Total: 60.').waitFor();
    expect((await listControls(page)).filter((each) => each.endsWith(' ""'))).toEqual([]);
    await takeScreenshots(page, 'weights');
    await save.click();
    await schedule.getByText('Saved').waitFor();
    expect(await given()).toMatchObject({ limit: 5, scoringWeights: { frequency: 0.6, relevance: 0 } });
    expect((await client.call('dreaming.status', {})).weights).toMatchObject({ frequency: 1, relevance: 0 });
    // As shares of the whole.
    await waitFor(async () => (await frequency.inputValue()) === '100', 'the weight as its share');

    await schedule.getByRole('button', { name: 'Reset Maximum suggestions per run to default' }).click();
    await waitFor(async () => (await most.inputValue()) === '10', 'the default to be back');
    await page.getByRole('button', { name: 'Undo' }).click();
    await waitFor(async () => (await most.inputValue()) === '5', 'the limit to be back');
    await schedule.getByRole('button', { name: 'Reset Weights to default' }).click();
    await waitFor(async () => (await frequency.inputValue()) === '25', 'the default weights to be back');
    expect(await given()).toEqual({ limit: 5 });
    client.close();
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });
});
