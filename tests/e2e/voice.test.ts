import type { Page } from 'playwright';
import { afterAll, describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { createFakeSpeechEngine } from '../support/fake-speech-engine.ts';
import { useReplyFixture, sendMessage, replies } from './reply-fixture.ts';
import { runAxe } from './axe.ts';
import { launchBrowser } from './test-browser.ts';
import { waitForConnection, LINKED_STATUS } from './connection-status.ts';
import { type FakeRecognition, type FakeVoices, installFakeRecognition, installFakeVoices } from './fake-speech.ts';
import { takeScreenshots } from './take-screenshots.ts';

type FakeWindow = Window & { fakeVoices: FakeVoices; fakeHearing: FakeRecognition };
const getSpokenTexts = (page: Page): Promise<FakeVoices['spokenTexts']> =>
  page.evaluate(() => (window as unknown as FakeWindow).fakeVoices.spokenTexts);
const getSilencedCount = (page: Page): Promise<number> => page.evaluate(() => (window as unknown as FakeWindow).fakeVoices.silenced);
const endUtterance = (page: Page, error?: string): Promise<void> =>
  page.evaluate((why) => (window as unknown as FakeWindow).fakeVoices.end(why), error);
const emitSpeech = (page: Page, words: string, isFinal: boolean): Promise<void> =>
  page.evaluate(([text, settled]) => (window as unknown as FakeWindow).fakeHearing.emitResult(text, settled), [words, isFinal] as const);

describe('voices', () => {
  const engine = createFakeSpeechEngine();
  afterAll(() => engine[Symbol.dispose]());
  const chat = useReplyFixture([], {}, { env: { PATH: engine.path } });
  const read = (page: Page, index: number) => replies(page).nth(index).getByRole('button', { name: 'Read aloud' });
  const stop = (page: Page) => page.getByRole('button', { name: 'Stop reading' });

  async function opened(prepare: (page: Page) => Promise<unknown>): Promise<Page> {
    const page = await chat.browser.page();
    await prepare(page);
    await page.goto(chat.perch.url);
    await waitForConnection(page, LINKED_STATUS);
    return page;
  }

  async function answers(page: Page, text: string): Promise<void> {
    chat.model.queueReply(text);
    const before = await replies(page).count();
    await sendMessage(page);
    await replies(page).nth(before).getByRole('button', { name: 'Read aloud' }).waitFor();
  }

  verifies('voice/read-aloud', 'a reply is read without its mark-up and code, one at a time, until it is stopped or left', async () => {
    const page = await opened(installFakeVoices);
    await answers(page, '# Title\n\nSome **bold** words.\n\n```ts\nconst a = 1;\n```\n\nThe last.');
    await answers(page, 'Another answer.');
    await read(page, 0).click();
    await waitFor(async () => (await getSpokenTexts(page)).length === 1, 'the first piece to be said');
    await endUtterance(page);
    await waitFor(async () => (await getSpokenTexts(page)).length === 2, 'the second piece to be said');
    expect((await getSpokenTexts(page)).map(({ text }) => text)).toEqual(['Title', 'Some bold words.']);
    await takeScreenshots(page, 'reading');

    await read(page, 1).click();
    await waitFor(async () => (await getSpokenTexts(page)).length === 3, 'the other reply to be said');
    expect({ text: (await getSpokenTexts(page)).at(-1)?.text, silenced: await getSilencedCount(page) }).toEqual({
      text: 'Another answer.',
      silenced: 1,
    });
    expect(await stop(page).count()).toBe(1);
    await stop(page).click();
    expect(await getSilencedCount(page)).toBe(2);
    expect(await stop(page).count()).toBe(0);

    await read(page, 1).click();
    await waitFor(async () => (await getSpokenTexts(page)).length === 4, 'it to be said anew');
    await endUtterance(page);
    await stop(page).waitFor({ state: 'detached' });

    await read(page, 1).click();
    await waitFor(async () => (await getSpokenTexts(page)).length === 5, 'it to be said again');
    await page
      .getByRole('link', { name: 'New chat' })
      .or(page.getByRole('button', { name: 'New chat' }))
      .first()
      .click();
    await waitFor(async () => (await getSilencedCount(page)) === 3, 'it to end with the chat');
    await page.close();
  });

  verifies('voice/read-aloud', 'a voice that fails is said to, with what to do', async () => {
    const page = await opened(installFakeVoices);
    await answers(page, 'An answer.');
    await read(page, 0).click();
    await waitFor(async () => (await getSpokenTexts(page)).length === 1, 'it to be said');
    await endUtterance(page, 'synthesis-failed');
    await page
      .getByRole('alert')
      .getByText('the browser’s voice failed (synthesis-failed). Choose another voice in the settings.')
      .getByRole('link', { name: 'Voice settings' })
      .waitFor();
    await answers(page, '```ts\nconst a = 1;\n```');
    await read(page, 1).click();
    await page.getByRole('alert').getByText('Nothing to read aloud').waitFor();
    await page.close();
  });

  verifies('voice/read-aloud', 'where the browser has no voices the gateway speaks', async () => {
    const page = await opened((fresh) =>
      fresh.addInitScript(() => {
        const play = HTMLMediaElement.prototype.play;
        HTMLMediaElement.prototype.play = function (this: HTMLMediaElement) {
          Object.assign(window, { heard: this });
          return play.call(this);
        };
      }),
    );
    await answers(page, Array(40).fill('A long answer that takes a while to be read aloud.').join(' '));
    await read(page, 0).click();
    await page.waitForFunction(() => ((window as unknown as { heard?: HTMLMediaElement }).heard?.currentTime ?? 0) > 0);
    expect(engine.calls().flat().join()).toContain('A long answer that takes a while');
    await stop(page).click();
    expect(await page.evaluate(() => (window as unknown as { heard: HTMLMediaElement }).heard.paused)).toBe(true);
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.close();
  });

  verifies('voice/choice', 'voice and speed are chosen and tried in the settings, and kept in this browser', async () => {
    const page = await opened(installFakeVoices);
    await page.goto(new URL('/settings#voice', chat.perch.url).href);
    const part = page.getByRole('region', { name: 'Voice' });
    const voices = part.getByRole('combobox', { name: /^Voice/ });
    await voices.selectOption({ label: 'Second (de-DE)' });
    await part.getByLabel('Speed').selectOption({ label: '1.5×' });
    await part.getByRole('button', { name: 'Try' }).click();
    await waitFor(async () => (await getSpokenTexts(page)).length === 1, 'it to be tried');
    expect((await getSpokenTexts(page))[0]).toMatchObject({ rate: 1.5, voice: 'Second' });
    await takeScreenshots(page, 'settings');
    expect(await runAxe(page)).toEqual([]);
    await part.getByRole('button', { name: 'Stop' }).click();
    await part.getByRole('button', { name: 'Try' }).waitFor();
    await page.reload();
    expect(await voices.inputValue()).toBe('two');
    expect(await part.getByLabel('Speed').inputValue()).toBe('1.5');
    await voices.selectOption('');
    await part.getByLabel('Speed').selectOption({ label: 'Normal' });
    expect(await page.evaluate(() => localStorage.getItem('perch.voice'))).toBe(null);
    await page.close();
  });

  verifies('voice/choice', 'without voices and a bridge the settings say what is needed, without an error', async () => {
    await using browser = await launchBrowser();
    const page = await browser.page(`${chat.perch.url}/settings#voice`);
    const part = page.getByRole('region', { name: 'Voice' });
    await part.getByText('This browser has no voices. Start Perch on your computer to use its voices.').waitFor();
    expect(await part.getByRole('alert').count()).toBe(0);
    expect(await part.getByRole('link', { name: 'Pair this browser' }).getAttribute('href')).toBe('/devices#connection');
    await takeScreenshots(page, 'no-bridge');
    expect(await runAxe(page)).toEqual([]);
  });

  const field = (page: Page) => page.getByRole('textbox', { name: 'Message' });
  const dictate = (page: Page) => page.getByRole('button', { name: 'Dictate' });
  const ends = (page: Page) => page.getByRole('button', { name: 'Stop dictating' });

  verifies('voice/dictation', 'dictated text appears at the caret as it is recognized, until Esc or the button ends it', async () => {
    const page = await opened((fresh) => installFakeRecognition(fresh, true));
    await field(page).fill('Dear Ana, bye');
    await field(page).evaluate((area: HTMLTextAreaElement) => area.setSelectionRange(9, 9));
    await dictate(page).click();
    await ends(page).waitFor();
    await emitSpeech(page, 'how', false);
    await waitFor(async () => (await field(page).inputValue()) === 'Dear Ana, how bye', 'words that may change');
    await emitSpeech(page, 'how are you', true);
    await emitSpeech(page, 'see', false);
    await waitFor(async () => (await field(page).inputValue()) === 'Dear Ana, how are you see bye', 'words of both kinds');
    await takeScreenshots(page, 'dictating');
    await emitSpeech(page, 'See you.', true);
    await page.keyboard.press('Escape');
    await dictate(page).waitFor();
    expect(await field(page).inputValue()).toBe('Dear Ana, how are you See you. bye');
    expect(await page.evaluate(() => (window as unknown as FakeWindow).fakeHearing.startCount)).toEqual([
      { lang: await page.evaluate(() => navigator.language), local: true },
    ]);
    await field(page).fill('');
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await dictate(page).click();
    await ends(page).waitFor();
    // The pointer is on it, and it is seen to listen all the same.
    const look = (): Promise<string> =>
      ends(page).evaluate(async (button) => {
        const changes = button.getAnimations().filter((each) => each instanceof CSSTransition);
        await Promise.allSettled(changes.map((each) => each.finished));
        return getComputedStyle(button).color;
      });
    const pointedAt = await look();
    await page.mouse.move(0, 0);
    expect(await look()).toBe(pointedAt);
    for (let line = 0; line < 30; line++) await emitSpeech(page, `The line ${line} of a long letter to Ana, who is far away.`, true);
    await waitFor(async () => (await field(page).inputValue()).includes('line 29'), 'the whole letter');
    await waitFor(
      () =>
        field(page).evaluate(
          (area) => area.scrollHeight > area.clientHeight && area.scrollTop + area.clientHeight >= area.scrollHeight - 1,
        ),
      'the last words to be in sight',
    );
    await ends(page).click();
    await dictate(page).waitFor();
    await page.close();
  });

  verifies('voice/dictation', 'the language is the one that was chosen for the app', async () => {
    const page = await opened((fresh) => installFakeRecognition(fresh, true));
    try {
      await page.evaluate(() => localStorage.setItem('perch.locale', 'de'));
      await page.reload();
      await page.getByRole('button', { name: 'Diktieren' }).click();
      await waitFor(
        async () => (await page.evaluate(() => (window as unknown as FakeWindow).fakeHearing.startCount.length)) === 1,
        'it to begin',
      );
      expect((await page.evaluate(() => (window as unknown as FakeWindow).fakeHearing.startCount))[0]?.lang).toBe('de');
    } finally {
      await page.evaluate(() => localStorage.removeItem('perch.locale'));
      await page.close();
    }
  });

  verifies('voice/dictation', 'typing and sending end it, and nothing comes after', async () => {
    const page = await opened((fresh) => installFakeRecognition(fresh, true));
    await field(page).fill('');
    await dictate(page).click();
    await ends(page).waitFor();
    await emitSpeech(page, 'hello', true);
    await waitFor(async () => (await field(page).inputValue()) === 'hello', 'the words');
    await field(page).press('!');
    await dictate(page).waitFor();
    expect(await field(page).inputValue()).toBe('hello!');
    await dictate(page).click();
    await ends(page).waitFor();
    chat.model.queueReply('Hello to you.');
    await field(page).press('Enter');
    await replies(page).getByText('Hello to you.').waitFor();
    await dictate(page).waitFor();
    expect(await field(page).inputValue()).toBe('');
    await page.close();
  });

  verifies('voice/dictation', 'a browser that sends the sound away is asked about first, once', async () => {
    const page = await opened((fresh) => installFakeRecognition(fresh, false));
    const begun = (): Promise<number> => page.evaluate(() => (window as unknown as FakeWindow).fakeHearing.startCount.length);
    await dictate(page).click();
    const dialog = page.getByRole('dialog', { name: 'Use browser dictation?' });
    await dialog.getByText('sends the microphone audio to a speech service').waitFor();
    await takeScreenshots(page, 'consent');
    await dialog.getByRole('button', { name: 'Not now' }).click();
    expect(await begun()).toBe(0);
    await dictate(page).click();
    await dialog.getByRole('button', { name: 'Use microphone' }).click();
    await ends(page).waitFor();
    await ends(page).click();
    await dictate(page).click();
    await ends(page).waitFor();
    expect(await begun()).toBe(2);
    await page.evaluate(() => (window as unknown as FakeWindow).fakeHearing.emitError('not-allowed'));
    await page.getByRole('alert').getByText('The microphone is blocked. Allow it in the site settings next to the address bar.').waitFor();
    await dictate(page).waitFor();
    await dictate(page).click();
    await ends(page).waitFor();

    const settings = await opened((fresh) => installFakeRecognition(fresh, false));
    await settings.goto(`${chat.perch.url}/settings#voice`);
    await settings.getByText('this browser may send audio to its vendor').waitFor();
    await takeScreenshots(settings, 'agreed');
    await settings.getByRole('button', { name: 'Withdraw consent' }).click();
    await settings.getByText('before this browser sends audio').waitFor();
    // Also what is being heard in another tab ends.
    await dictate(page).waitFor();
    await dictate(page).click();
    await dialog.waitFor();
    await Promise.all([page.close(), settings.close()]);
  });

  verifies('voice/dictation', 'a browser that cannot has no button for it', async () => {
    const page = await opened((fresh) =>
      fresh.addInitScript(() => {
        for (const name of ['SpeechRecognition', 'webkitSpeechRecognition']) Object.defineProperty(window, name, { value: undefined });
      }),
    );
    await field(page).waitFor();
    expect(await dictate(page).count()).toBe(0);
    await page.close();
  });
});
