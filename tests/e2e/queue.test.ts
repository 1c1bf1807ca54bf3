import type { Page, Route } from 'playwright';
import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { until } from '../support/gateway.ts';
import { connected, LINKED, linkedPage } from './connected.ts';
import { connectOutside } from './outside.ts';
import { outboxRows } from './outbox-rows.ts';
import { putRows } from './put-rows.ts';
import { served } from './served.ts';
import { shoot } from './shoot.ts';

const field = (page: Page) => page.getByRole('textbox', { name: 'Message' });
const queue = (page: Page) => page.getByRole('region', { name: 'Queued messages' });
const waiting = (page: Page) => queue(page).getByRole('listitem');
const heldMessages = (page: Page) => page.getByRole('group', { name: 'Not sent because' });
const approvals = (page: Page) => page.getByRole('listitem', { name: /needs your approval/ });

async function write(page: Page, text: string, keys = 'Enter'): Promise<void> {
  await field(page).fill(text);
  await field(page).press(keys);
}

async function inOrder(page: Page, texts: readonly string[]): Promise<void> {
  const shown = async (): Promise<string[]> => (await waiting(page).locator('.text').allInnerTexts()).map((text) => text.trim());
  await until(async () => JSON.stringify(await shown()) === JSON.stringify(texts), `the queue to be ${texts.join(', ')}`);
}

const act = (page: Page, text: string, action: string) =>
  waiting(page).filter({ hasText: text }).getByRole('button', { name: action }).click();

/** Waits until a message is on its way to the gateway: what the page asks from then on comes behind it. */
const handedOver = (page: Page, text: string): Promise<void> =>
  until(async () => (await outboxRows(page)).some(({ message, tried }) => message === text && tried), `“${text}” to be on its way`);

/** The user's messages in the open chat, in order, as the gateway has them. */
async function said(page: Page, at: ReturnType<typeof served>): Promise<string[]> {
  using outside = await connectOutside(at.perch);
  const sessionId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  const { messages } = await outside.client.call('chat.history', { sessionId });
  return messages.flatMap(({ role, content }) => (role === 'user' ? [String(content)] : []));
}

/** Stops a tab right behind its note that it hands the next message over, before it does; the result lets it go on. */
async function stallBehindClaim(page: Page): Promise<{ held: Promise<void>; letGo(): Promise<void> }> {
  const { promise: held, resolve } = Promise.withResolvers<Route>();
  await page.route('**/stalled', resolve);
  await page.evaluate(() => {
    const claims = new Set<IDBTransaction>();
    const { put } = IDBObjectStore.prototype;
    IDBObjectStore.prototype.put = function (value: unknown, key?: IDBValidKey) {
      if (typeof value === 'object' && value !== null && 'tried' in value && value.tried === true) claims.add(this.transaction);
      return put.call(this, value, key);
    };
    const { addEventListener } = EventTarget.prototype;
    IDBTransaction.prototype.addEventListener = function (type: string, listener: EventListenerOrEventListenerObject) {
      addEventListener.call(this, type, (event) => {
        if (type === 'complete' && claims.delete(this)) {
          IDBObjectStore.prototype.put = put;
          const request = new XMLHttpRequest();
          request.open('GET', '/stalled', false);
          request.send();
        }
        if (typeof listener === 'function') listener.call(this, event);
        else listener.handleEvent(event);
      });
    };
  });
  return { held: held.then(() => {}), letGo: async () => (await held).fulfill({ body: '' }) };
}

/** Keeps a tab from its turn to deliver, which it may have before the tab that a message was written in. */
const handsNothingOver = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const { request } = navigator.locks;
    const asked = (name: string, ...rest: unknown[]): Promise<unknown> =>
      name.startsWith('perch-outbox:') ? new Promise(() => {}) : Reflect.apply(request, navigator.locks, [name, ...rest]);
    Object.defineProperty(navigator.locks, 'request', { value: asked });
  });

const waitsForOtherTab = (page: Page): Promise<boolean> =>
  page.evaluate(async () => (await navigator.locks.query()).pending?.some(({ name }) => name?.startsWith('perch-outbox-entry:')) ?? false);

/** Keeps answers with a chat's messages from a page, once it is told to, and hands them over late. */
async function holdsHistories(page: Page) {
  await page.addInitScript(() => {
    const held: (() => void)[] = [];
    let isHolding = false;
    for (const { prototype } of [MessagePort, WebSocket]) {
      const onmessage = Object.getOwnPropertyDescriptor(prototype, 'onmessage');
      Object.defineProperty(prototype, 'onmessage', {
        ...onmessage,
        set(this: EventTarget, listener: ((event: MessageEvent) => void) | null) {
          const later = (event: MessageEvent): unknown =>
            isHolding && /messages.*cursor.*runs/.test(JSON.stringify(event.data))
              ? held.push(() => listener?.call(this, event))
              : listener?.call(this, event);
          onmessage?.set?.call(this, listener && later);
        },
      });
    }
    const letGo = async (): Promise<void> => {
      isHolding = false;
      for (const handOver of held) handOver();
      for (let frames = 0; frames < 3; frames++) await new Promise(requestAnimationFrame);
    };
    Object.assign(globalThis, { histories: { hold: () => (isHolding = true), isHeld: () => held.length > 0, letGo } });
  });
  await page.reload();
  await connected(page, LINKED);
  const ask = (what: 'hold' | 'isHeld' | 'letGo'): Promise<boolean> =>
    page.evaluate((name) => (globalThis as unknown as { histories: Record<string, () => boolean> }).histories[name]?.() ?? false, what);
  return { hold: () => ask('hold'), isHeld: () => ask('isHeld'), letGo: () => ask('letGo') };
}

describe('messages sent during a reply', () => {
  const at = served();
  /** The link's code is good for once. */
  let linked = false;

  async function newPage(): Promise<Page> {
    const page = linked ? await at.browser.page(at.perch.url) : await linkedPage(at.browser, at.perch);
    await connected(page, LINKED);
    linked = true;
    return page;
  }

  /** A chat whose reply waits for a tool, which waits for its approval. */
  async function busyPage(): Promise<Page> {
    const page = await newPage();
    using outside = await connectOutside(at.perch);
    await outside.client.call('config.patch', { patch: { tools: { policies: { current_time: 'ask' } } } });
    await write(page, '/tool current_time {}');
    await approvals(page).waitFor();
    return page;
  }

  verifies(
    ['app/queue', 'app/two-tabs'],
    'stands above the field in its order, and is edited, removed and moved, in each tab',
    async () => {
      const page = await busyPage();
      for (const text of ['first words', 'second words', 'third words', 'fourth words']) await write(page, text);
      await inOrder(page, ['first words', 'second words', 'third words', 'fourth words']);
      await shoot(page, 'queue');
      await act(page, 'third', 'Move to front');
      await inOrder(page, ['third words', 'first words', 'second words', 'fourth words']);
      await act(page, 'first', 'Remove');
      await inOrder(page, ['third words', 'second words', 'fourth words']);
      const other = await at.browser.page(page.url());
      await connected(other, LINKED);
      await inOrder(other, ['third words', 'second words', 'fourth words']);
      // The same for the message that the first tab has sent to the gateway.
      await act(other, 'third', 'Edit');
      await until(async () => (await field(other).inputValue()) === 'third words', 'the text to be in the field');
      await inOrder(page, ['second words', 'fourth words']);
      await field(other).fill('');
      await other.close();
      await approvals(page).getByRole('button', { name: 'Allow once' }).click();
      await queue(page).waitFor({ state: 'detached' });
      await until(async () => (await said(page, at)).length === 3, 'both to have had their turn');
      expect((await said(page, at)).slice(1)).toEqual(['second words', 'fourth words']);
      expect(at.browser.complaints).toEqual([]);
      await page.close();
    },
  );

  verifies('app/queue', 'is sent into the reply, whose tool ends first; what waits comes behind it', async () => {
    const page = await busyPage();
    await write(page, 'patient words');
    await write(page, 'urgent words');
    await act(page, 'urgent', 'Send now');
    await waiting(page).filter({ hasText: 'urgent' }).getByText('Sent after the current tool call').waitFor();
    await inOrder(page, ['urgent words', 'patient words']);
    await handedOver(page, 'urgent words');
    await approvals(page).getByRole('button', { name: 'Allow once' }).click();
    await until(async () => (await said(page, at)).length === 3, 'all to have had their turn');
    // While one writes, by a key.
    await queue(page).waitFor({ state: 'detached' });
    await write(page, '/tool current_time {}');
    await approvals(page).waitFor();
    await write(page, 'more patient words');
    await write(page, 'more urgent words', 'Control+Enter');
    await inOrder(page, ['more urgent words', 'more patient words']);
    await handedOver(page, 'more urgent words');
    await approvals(page).getByRole('button', { name: 'Allow once' }).click();
    await until(async () => (await said(page, at)).length === 6, 'all to have had their turn');
    const [, ...after] = await said(page, at);
    expect(after).toEqual(['urgent words', 'patient words', '/tool current_time {}', 'more urgent words', 'more patient words']);
    // Tool results are kept, and no tool was stopped.
    const done = page.locator('summary').filter({ hasText: 'Get current time' }).filter({ hasText: 'Done' });
    await until(async () => (await done.count()) === 2, 'both tools to be done');
    expect(await page.getByText('Stopped').count()).toBe(0);
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });

  verifies('app/queue', 'goes in behind another that does, and neither is said to be stopped', async () => {
    const page = await busyPage();
    await write(page, 'urgent words', 'Control+Enter');
    await waiting(page).filter({ hasText: 'urgent' }).getByText('Sent after the current tool call').waitFor();
    await write(page, 'words as urgent', 'Control+Enter');
    await inOrder(page, ['urgent words', 'words as urgent']);
    await handedOver(page, 'words as urgent');
    await approvals(page).getByRole('button', { name: 'Allow once' }).click();
    await until(async () => (await said(page, at)).length === 3, 'both to have had their turn');
    expect((await said(page, at)).slice(1)).toEqual(['urgent words', 'words as urgent']);
    await page.getByRole('button', { name: 'Stop', exact: true }).waitFor({ state: 'detached' });
    expect(await page.getByText('Stopped').count()).toBe(0);
    await page.close();
  });

  verifies(['app/queue', 'app/two-tabs'], 'is not sent again before the tab that withdrew it has decided', async () => {
    const page = await busyPage();
    await write(page, 'words taken back');
    await write(page, 'words behind them');
    const other = await at.browser.page(page.url());
    await connected(other, LINKED);
    await inOrder(other, ['words taken back', 'words behind them']);
    // So late that the first tab knows of it from the gateway alone.
    await other.evaluate(() => {
      IDBObjectStore.prototype.put = IDBObjectStore.prototype.delete = () => {
        throw new DOMException('no room', 'QuotaExceededError');
      };
    });
    await act(other, 'taken back', 'Edit');
    await until(async () => (await field(other).inputValue()) === 'words taken back', 'the text to be in the field');
    await approvals(page).getByRole('button', { name: 'Allow once' }).click();
    await until(async () => (await said(page, at)).length === 2, 'the next to have had its turn');
    expect((await said(page, at)).at(-1)).toBe('words behind them');
    await inOrder(page, ['words taken back']);
    await other.close();
    await page.close();
  });

  verifies(['app/queue', 'app/two-tabs'], 'is sent once, or not at all, if it is withdrawn while another tab hands it over', async () => {
    const page = await busyPage();
    const other = await at.browser.page(page.url());
    await connected(other, LINKED);
    await handsNothingOver(other);
    const stalled = await stallBehindClaim(page);
    // Its keys are let go only behind that.
    const written = write(page, 'words on their way');
    await stalled.held;
    await inOrder(other, ['words on their way']);
    await act(other, 'on their way', 'Edit');
    const asked = async (): Promise<boolean> => (await field(other).inputValue()) !== '' || (await waitsForOtherTab(other));
    await until(asked, 'the text to be in the field, or the other tab to be waited for');
    await stalled.letGo();
    await written;
    await queue(page).waitFor({ state: 'detached' });
    await until(async () => (await field(other).inputValue()) === 'words on their way', 'the text to be in the field');
    await approvals(page).getByRole('button', { name: 'Allow once' }).click();
    await page.getByRole('button', { name: 'Stop', exact: true }).waitFor({ state: 'detached' });
    expect(await said(page, at)).toHaveLength(1);
    await field(other).fill('');
    await other.close();
    await page.close();
  });

  verifies(['app/queue', 'app/streams-and-stops'], 'is held by Stop, and waits for a decision', async () => {
    const page = await busyPage();
    await write(page, 'held one');
    await write(page, 'held two');
    await inOrder(page, ['held one', 'held two']);
    await page.getByRole('button', { name: 'Stop' }).click();
    const held = heldMessages(page);
    await until(async () => (await held.count()) === 2, 'both to be held');
    expect(await said(page, at)).toEqual(['/tool current_time {}']);
    // Nothing has failed, and the chat can be changed as before.
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(await page.getByText('ABORTED').count()).toBe(0);
    await page.getByRole('button', { name: 'Edit message' }).waitFor();
    await page.getByRole('button', { name: 'Regenerate' }).waitFor();
    await held.first().getByRole('button', { name: 'Send' }).click();
    await until(async () => (await said(page, at)).length === 2, 'the first to be sent');
    expect((await said(page, at)).at(-1)).toBe('held one');
    await page.close();
  });

  verifies(['app/queue', 'app/two-tabs'], 'unsent messages stay if another tab deletes the chat, and continue in a new one', async () => {
    const page = await busyPage();
    await write(page, 'held one');
    await inOrder(page, ['held one']);
    await page.getByRole('button', { name: 'Stop' }).click();
    await heldMessages(page).waitFor();
    await field(page).fill('half a thought');
    using outside = await connectOutside(at.perch);
    const sessionId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    await outside.client.call('sessions.delete', { path: `main/${sessionId}.jsonl` });
    await page.getByRole('heading', { name: 'This chat was deleted' }).waitFor();
    const unsent = page.getByRole('list', { name: /^Unsent messages/ });
    expect(await unsent.getByRole('listitem').allInnerTexts()).toEqual(['held one', 'half a thought']);
    expect(await field(page).count()).toBe(0);
    await shoot(page, 'gone');
    await page.reload();
    await page.getByRole('heading', { name: 'This chat was deleted' }).waitFor();
    await unsent.getByText('held one').waitFor();
    expect(await unsent.getByRole('listitem').allInnerTexts()).toEqual(['held one', 'half a thought']);
    await page.getByRole('button', { name: 'Continue in a new chat' }).click();
    await page.waitForURL(`${at.perch.url}/`);
    await expect.poll(() => field(page).inputValue()).toBe('held one\nhalf a thought');
    expect((await outboxRows(page)).filter((row) => row.sessionId === sessionId)).toEqual([]);
    expect(at.browser.complaints).toEqual([]);
    await field(page).fill('');
    await page.close();
  });

  verifies('app/two-tabs', 'a chat that another deletes stays deleted, whatever was read of it before', async () => {
    const page = await newPage();
    const histories = await holdsHistories(page);
    await write(page, 'What can you do?');
    await page.getByRole('button', { name: 'Regenerate' }).waitFor();
    using outside = await connectOutside(at.perch);
    const sessionId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    await histories.hold();
    // The chat is read anew, and the answer comes late.
    await outside.client.call('sessions.rename', { path: `main/${sessionId}.jsonl`, title: 'Another title' });
    await until(histories.isHeld, 'the messages to be on their way');
    await outside.client.call('sessions.delete', { path: `main/${sessionId}.jsonl` });
    const gone = page.getByRole('heading', { name: 'This chat was deleted' });
    await gone.waitFor();
    await histories.letGo();
    expect(await gone.isVisible()).toBe(true);
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });

  verifies('app/two-tabs', 'an unsent message makes no chat that is known to have been there', async () => {
    const page = await newPage();
    await write(page, 'What can you do?');
    await page.getByRole('button', { name: 'Regenerate' }).waitFor();
    const sessionId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    const failure = { message: 'Not sent', code: 'ABORTED' };
    const about = { model: null, files: [], createdAt: 1, place: 1, steer: false, begins: true, tried: false };
    // As a tab leaves it that was not told that the chat had begun.
    await putRows(page, 'outbox', [{ ...about, id: 'left', agentId: 'main', sessionId, message: 'held one', failure }]);
    await page.reload();
    await page.getByText('held one').waitFor();
    await until(async () => (await outboxRows(page)).every(({ begins }) => !begins), 'the chat to be known');
    using outside = await connectOutside(at.perch);
    await outside.client.call('sessions.delete', { path: `main/${sessionId}.jsonl` });
    const gone = page.getByRole('heading', { name: 'This chat was deleted' });
    await gone.waitFor();
    await page.reload();
    await gone.waitFor();
    await page.getByRole('button', { name: 'Continue in a new chat' }).click();
    await expect.poll(() => field(page).inputValue()).toBe('held one');
    await field(page).fill('');
    await page.close();
  });

  verifies(
    'app/two-tabs',
    'what a message was being changed to is still there where another deletes the chat, also after a reload',
    async () => {
      const page = await newPage();
      await write(page, 'What can you do?');
      await page.getByRole('button', { name: 'Edit message' }).click();
      await page.getByRole('textbox', { name: 'Edit your message' }).fill('What can you not do?');
      using outside = await connectOutside(at.perch);
      const sessionId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
      await outside.client.call('sessions.delete', { path: `main/${sessionId}.jsonl` });
      const unsent = page.getByRole('list', { name: /^Unsent messages/ }).getByRole('listitem');
      await unsent.getByText('What can you not do?', { exact: true }).waitFor();
      await shoot(page, 'gone-edit');
      await page.reload();
      await unsent.getByText('What can you not do?', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Continue in a new chat' }).click();
      await expect.poll(() => field(page).inputValue()).toBe('What can you not do?');
      await field(page).fill('');
      await page.close();
    },
  );

  verifies('app/two-tabs', 'messages written before a new chat existed create no other one if it is deleted', async () => {
    const page = await newPage();
    using outside = await connectOutside(at.perch);
    await outside.client.call('config.patch', { patch: { tools: { policies: { current_time: 'ask' } } } });
    await handsNothingOver(page);
    await write(page, '/tool current_time {}');
    await page.waitForURL(/\/chat\//);
    await write(page, 'held one');
    await until(async () => (await outboxRows(page)).filter(({ begins }) => begins).length === 2, 'both to be kept');
    const address = page.url();
    // The page sends the stored queue before it is connected to its own browser's gateway.
    const other = await at.browser.page(address);
    await page.close();
    await approvals(other).waitFor();
    await inOrder(other, ['held one']);
    await other.getByRole('button', { name: 'Stop' }).click();
    await heldMessages(other).waitFor();
    await other.getByRole('button', { name: 'Stop', exact: true }).waitFor({ state: 'hidden' });
    const sessionId = new URL(other.url()).pathname.split('/').at(-1) ?? '';
    await outside.client.call('sessions.delete', { path: `main/${sessionId}.jsonl` });
    const gone = other.getByRole('heading', { name: 'This chat was deleted' });
    await gone.waitFor();
    await other.reload();
    await gone.waitFor();
    await other.getByRole('button', { name: 'Continue in a new chat' }).click();
    await expect.poll(() => field(other).inputValue()).toBe('held one');
    await field(other).fill('');
    await other.close();
  });
});
