import type { Page, Route } from 'playwright';
import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { waitForConnection, LINKED_STATUS, openLinkedPage } from './connection-status.ts';
import { connectOutside } from './outside-client.ts';
import { readOutboxRows } from './outbox-rows.ts';
import { putRows } from './put-rows.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { takeScreenshots } from './take-screenshots.ts';

const field = (page: Page) => page.getByRole('textbox', { name: 'Message' });
const queue = (page: Page) => page.getByRole('region', { name: 'Queued messages' });
const waiting = (page: Page) => queue(page).getByRole('listitem');
const queuedMessages = (page: Page) => page.getByRole('group', { name: 'Not sent because' });
const approvals = (page: Page) => page.getByRole('listitem', { name: /needs your approval/ });

async function writeMessage(page: Page, text: string, keys = 'Enter'): Promise<void> {
  await field(page).fill(text);
  await field(page).press(keys);
}

async function expectOrder(page: Page, texts: readonly string[]): Promise<void> {
  const readQueue = async (): Promise<string[]> => (await waiting(page).locator('.text').allInnerTexts()).map((text) => text.trim());
  await waitFor(async () => JSON.stringify(await readQueue()) === JSON.stringify(texts), `the queue to be ${texts.join(', ')}`);
}

const clickAction = (page: Page, text: string, action: string) =>
  waiting(page).filter({ hasText: text }).getByRole('button', { name: action }).click();

/** Waits until a message is on its way to the gateway: what the page asks from then on comes behind it. */
const waitForHandOver = (page: Page, text: string): Promise<void> =>
  waitFor(async () => (await readOutboxRows(page)).some(({ message, tried }) => message === text && tried), `“${text}” to be on its way`);

/** The user's messages in the open chat, in order, as the gateway has them. */
async function getUserMessages(page: Page, at: ReturnType<typeof useGatewayAndBrowser>): Promise<string[]> {
  using outside = await connectOutside(at.perch);
  const sessionId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  const { messages } = await outside.client.call('chat.history', { sessionId });
  return messages.flatMap(({ role, content }) => (role === 'user' ? [String(content)] : []));
}

/** Stops a tab right behind its note that it hands the next message over, before it does; the result lets it go on. */
async function stallAfterClaim(page: Page): Promise<{ held: Promise<void>; letGo(): Promise<void> }> {
  const { promise: routeHeld, resolve } = Promise.withResolvers<Route>();
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
  return { held: routeHeld.then(() => {}), letGo: async () => (await routeHeld).fulfill({ body: '' }) };
}

/** Keeps a tab from its turn to deliver, which it may have before the tab that a message was written in. */
const blockDelivery = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const { request } = navigator.locks;
    const callHook = (name: string, ...rest: unknown[]): Promise<unknown> =>
      name.startsWith('perch-outbox:') ? new Promise(() => {}) : Reflect.apply(request, navigator.locks, [name, ...rest]);
    Object.defineProperty(navigator.locks, 'request', { value: callHook });
  });

const isWaitingForOtherTab = (page: Page): Promise<boolean> =>
  page.evaluate(async () => (await navigator.locks.query()).pending?.some(({ name }) => name?.startsWith('perch-outbox-entry:')) ?? false);

/** Keeps answers with a chat's messages from a page, once it is told to, and hands them over late. */
async function holdHistoryResponses(page: Page) {
  await page.addInitScript(() => {
    const heldResponses: (() => void)[] = [];
    let isHolding = false;
    for (const { prototype } of [MessagePort, WebSocket]) {
      const onmessage = Object.getOwnPropertyDescriptor(prototype, 'onmessage');
      Object.defineProperty(prototype, 'onmessage', {
        ...onmessage,
        set(this: EventTarget, listener: ((event: MessageEvent) => void) | null) {
          const later = (event: MessageEvent): unknown =>
            isHolding && /messages.*cursor.*runs/.test(JSON.stringify(event.data))
              ? heldResponses.push(() => listener?.call(this, event))
              : listener?.call(this, event);
          onmessage?.set?.call(this, listener && later);
        },
      });
    }
    const letGo = async (): Promise<void> => {
      isHolding = false;
      for (const handOver of heldResponses) handOver();
      for (let frames = 0; frames < 3; frames++) await new Promise(requestAnimationFrame);
    };
    Object.assign(globalThis, { histories: { hold: () => (isHolding = true), isHeld: () => heldResponses.length > 0, letGo } });
  });
  await page.reload();
  await waitForConnection(page, LINKED_STATUS);
  const callControl = (what: 'hold' | 'isHeld' | 'letGo'): Promise<boolean> =>
    page.evaluate((name) => (globalThis as unknown as { histories: Record<string, () => boolean> }).histories[name]?.() ?? false, what);
  return { hold: () => callControl('hold'), isHeld: () => callControl('isHeld'), letGo: () => callControl('letGo') };
}

describe('messages sent during a reply', () => {
  const at = useGatewayAndBrowser();
  /** The link's code is good for once. */
  let linked = false;

  async function newPage(): Promise<Page> {
    const page = linked ? await at.browser.page(at.perch.url) : await openLinkedPage(at.browser, at.perch);
    await waitForConnection(page, LINKED_STATUS);
    linked = true;
    return page;
  }

  /** A chat whose reply waits for a tool, which waits for its approval. */
  async function busyPage(): Promise<Page> {
    const page = await newPage();
    using outside = await connectOutside(at.perch);
    await outside.client.call('config.patch', { patch: { tools: { policies: { current_time: 'ask' } } } });
    await writeMessage(page, '/tool current_time {}');
    await approvals(page).waitFor();
    return page;
  }

  verifies(
    ['app/queue', 'app/two-tabs'],
    'stands above the field in its order, and is edited, removed and moved, in each tab',
    async () => {
      const page = await busyPage();
      for (const text of ['first words', 'second words', 'third words', 'fourth words']) await writeMessage(page, text);
      await expectOrder(page, ['first words', 'second words', 'third words', 'fourth words']);
      await takeScreenshots(page, 'queue');
      await clickAction(page, 'third', 'Move to front');
      await expectOrder(page, ['third words', 'first words', 'second words', 'fourth words']);
      await clickAction(page, 'first', 'Remove');
      await expectOrder(page, ['third words', 'second words', 'fourth words']);
      const other = await at.browser.page(page.url());
      await waitForConnection(other, LINKED_STATUS);
      await expectOrder(other, ['third words', 'second words', 'fourth words']);
      // The same for the message that the first tab has sent to the gateway.
      await clickAction(other, 'third', 'Edit');
      await waitFor(async () => (await field(other).inputValue()) === 'third words', 'the text to be in the field');
      await expectOrder(page, ['second words', 'fourth words']);
      await field(other).fill('');
      await other.close();
      await approvals(page).getByRole('button', { name: 'Allow once' }).click();
      await queue(page).waitFor({ state: 'detached' });
      await waitFor(async () => (await getUserMessages(page, at)).length === 3, 'both to have had their turn');
      expect((await getUserMessages(page, at)).slice(1)).toEqual(['second words', 'fourth words']);
      expect(at.browser.complaints).toEqual([]);
      await page.close();
    },
  );

  verifies('app/queue', 'is sent into the reply, whose tool ends first; what waits comes behind it', async () => {
    const page = await busyPage();
    await writeMessage(page, 'patient words');
    await writeMessage(page, 'urgent words');
    await clickAction(page, 'urgent', 'Send now');
    await waiting(page).filter({ hasText: 'urgent' }).getByText('Sent after the current tool call').waitFor();
    await expectOrder(page, ['urgent words', 'patient words']);
    await waitForHandOver(page, 'urgent words');
    await approvals(page).getByRole('button', { name: 'Allow once' }).click();
    await waitFor(async () => (await getUserMessages(page, at)).length === 3, 'all to have had their turn');
    // While one writes, by a key.
    await queue(page).waitFor({ state: 'detached' });
    await writeMessage(page, '/tool current_time {}');
    await approvals(page).waitFor();
    await writeMessage(page, 'more patient words');
    await writeMessage(page, 'more urgent words', 'Control+Enter');
    await expectOrder(page, ['more urgent words', 'more patient words']);
    await waitForHandOver(page, 'more urgent words');
    await approvals(page).getByRole('button', { name: 'Allow once' }).click();
    await waitFor(async () => (await getUserMessages(page, at)).length === 6, 'all to have had their turn');
    const [, ...after] = await getUserMessages(page, at);
    expect(after).toEqual(['urgent words', 'patient words', '/tool current_time {}', 'more urgent words', 'more patient words']);
    // Tool results are kept, and no tool was stopped.
    const done = page.locator('summary').filter({ hasText: 'Get current time' }).filter({ hasText: 'Done' });
    await waitFor(async () => (await done.count()) === 2, 'both tools to be done');
    expect(await page.getByText('Stopped').count()).toBe(0);
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });

  verifies('app/queue', 'goes in behind another that does, and neither is said to be stopped', async () => {
    const page = await busyPage();
    await writeMessage(page, 'urgent words', 'Control+Enter');
    await waiting(page).filter({ hasText: 'urgent' }).getByText('Sent after the current tool call').waitFor();
    await writeMessage(page, 'words as urgent', 'Control+Enter');
    await expectOrder(page, ['urgent words', 'words as urgent']);
    await waitForHandOver(page, 'words as urgent');
    await approvals(page).getByRole('button', { name: 'Allow once' }).click();
    await waitFor(async () => (await getUserMessages(page, at)).length === 3, 'both to have had their turn');
    expect((await getUserMessages(page, at)).slice(1)).toEqual(['urgent words', 'words as urgent']);
    await page.getByRole('button', { name: 'Stop', exact: true }).waitFor({ state: 'detached' });
    expect(await page.getByText('Stopped').count()).toBe(0);
    await page.close();
  });

  verifies(['app/queue', 'app/two-tabs'], 'is not sent again before the tab that withdrew it has decided', async () => {
    const page = await busyPage();
    await writeMessage(page, 'words taken back');
    await writeMessage(page, 'words behind them');
    const other = await at.browser.page(page.url());
    await waitForConnection(other, LINKED_STATUS);
    await expectOrder(other, ['words taken back', 'words behind them']);
    // So late that the first tab knows of it from the gateway alone.
    await other.evaluate(() => {
      IDBObjectStore.prototype.put = IDBObjectStore.prototype.delete = () => {
        throw new DOMException('no room', 'QuotaExceededError');
      };
    });
    await clickAction(other, 'taken back', 'Edit');
    await waitFor(async () => (await field(other).inputValue()) === 'words taken back', 'the text to be in the field');
    await approvals(page).getByRole('button', { name: 'Allow once' }).click();
    await waitFor(async () => (await getUserMessages(page, at)).length === 2, 'the next to have had its turn');
    expect((await getUserMessages(page, at)).at(-1)).toBe('words behind them');
    await expectOrder(page, ['words taken back']);
    await other.close();
    await page.close();
  });

  verifies(['app/queue', 'app/two-tabs'], 'is sent once, or not at all, if it is withdrawn while another tab hands it over', async () => {
    const page = await busyPage();
    const other = await at.browser.page(page.url());
    await waitForConnection(other, LINKED_STATUS);
    await blockDelivery(other);
    const stalled = await stallAfterClaim(page);
    // Its keys are let go only behind that.
    const written = writeMessage(page, 'words on their way');
    await stalled.held;
    await expectOrder(other, ['words on their way']);
    await clickAction(other, 'on their way', 'Edit');
    const isWaiting = async (): Promise<boolean> => (await field(other).inputValue()) !== '' || (await isWaitingForOtherTab(other));
    await waitFor(isWaiting, 'the text to be in the field, or the other tab to be waited for');
    await stalled.letGo();
    await written;
    await queue(page).waitFor({ state: 'detached' });
    await waitFor(async () => (await field(other).inputValue()) === 'words on their way', 'the text to be in the field');
    await approvals(page).getByRole('button', { name: 'Allow once' }).click();
    await page.getByRole('button', { name: 'Stop', exact: true }).waitFor({ state: 'detached' });
    expect(await getUserMessages(page, at)).toHaveLength(1);
    await field(other).fill('');
    await other.close();
    await page.close();
  });

  verifies(['app/queue', 'app/streams-and-stops'], 'is held by Stop, and waits for a decision', async () => {
    const page = await busyPage();
    await writeMessage(page, 'held one');
    await writeMessage(page, 'held two');
    await expectOrder(page, ['held one', 'held two']);
    await page.getByRole('button', { name: 'Stop' }).click();
    const heldItems = queuedMessages(page);
    await waitFor(async () => (await heldItems.count()) === 2, 'both to be held');
    expect(await getUserMessages(page, at)).toEqual(['/tool current_time {}']);
    // Nothing has failed, and the chat can be changed as before.
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(await page.getByText('ABORTED').count()).toBe(0);
    await page.getByRole('button', { name: 'Edit message' }).waitFor();
    await page.getByRole('button', { name: 'Regenerate' }).waitFor();
    await heldItems.first().getByRole('button', { name: 'Send' }).click();
    await waitFor(async () => (await getUserMessages(page, at)).length === 2, 'the first to be sent');
    expect((await getUserMessages(page, at)).at(-1)).toBe('held one');
    await page.close();
  });

  verifies(['app/queue', 'app/two-tabs'], 'unsent messages stay if another tab deletes the chat, and continue in a new one', async () => {
    const page = await busyPage();
    await writeMessage(page, 'held one');
    await expectOrder(page, ['held one']);
    await page.getByRole('button', { name: 'Stop' }).click();
    await queuedMessages(page).waitFor();
    await field(page).fill('half a thought');
    using outside = await connectOutside(at.perch);
    const sessionId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    await outside.client.call('sessions.delete', { path: `main/${sessionId}.jsonl` });
    await page.getByRole('heading', { name: 'This chat was deleted' }).waitFor();
    const unsent = page.getByRole('list', { name: /^Unsent messages/ });
    expect(await unsent.getByRole('listitem').allInnerTexts()).toEqual(['held one', 'half a thought']);
    expect(await field(page).count()).toBe(0);
    await takeScreenshots(page, 'gone');
    await page.reload();
    await page.getByRole('heading', { name: 'This chat was deleted' }).waitFor();
    await unsent.getByText('held one').waitFor();
    expect(await unsent.getByRole('listitem').allInnerTexts()).toEqual(['held one', 'half a thought']);
    await page.getByRole('button', { name: 'Continue in a new chat' }).click();
    await page.waitForURL(`${at.perch.url}/`);
    await expect.poll(() => field(page).inputValue()).toBe('held one\nhalf a thought');
    expect((await readOutboxRows(page)).filter((row) => row.sessionId === sessionId)).toEqual([]);
    expect(at.browser.complaints).toEqual([]);
    await field(page).fill('');
    await page.close();
  });

  verifies('app/two-tabs', 'a chat that another deletes stays deleted, whatever was read of it before', async () => {
    const page = await newPage();
    const histories = await holdHistoryResponses(page);
    await writeMessage(page, 'What can you do?');
    await page.getByRole('button', { name: 'Regenerate' }).waitFor();
    using outside = await connectOutside(at.perch);
    const sessionId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    await histories.hold();
    // The chat is read anew, and the answer comes late.
    await outside.client.call('sessions.rename', { path: `main/${sessionId}.jsonl`, title: 'Another title' });
    await waitFor(histories.isHeld, 'the messages to be on their way');
    await outside.client.call('sessions.delete', { path: `main/${sessionId}.jsonl` });
    const deletedNotice = page.getByRole('heading', { name: 'This chat was deleted' });
    await deletedNotice.waitFor();
    await histories.letGo();
    expect(await deletedNotice.isVisible()).toBe(true);
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });

  verifies('app/two-tabs', 'an unsent message makes no chat that is known to have been there', async () => {
    const page = await newPage();
    await writeMessage(page, 'What can you do?');
    await page.getByRole('button', { name: 'Regenerate' }).waitFor();
    const sessionId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    const failure = { message: 'Not sent', code: 'ABORTED' };
    const about = { model: null, files: [], createdAt: 1, place: 1, steer: false, begins: true, tried: false };
    // As a tab leaves it that was not told that the chat had begun.
    await putRows(page, 'outbox', [{ ...about, id: 'left', agentId: 'main', sessionId, message: 'held one', failure }]);
    await page.reload();
    await page.getByText('held one').waitFor();
    await waitFor(async () => (await readOutboxRows(page)).every(({ begins }) => !begins), 'the chat to be known');
    using outside = await connectOutside(at.perch);
    await outside.client.call('sessions.delete', { path: `main/${sessionId}.jsonl` });
    const deletedNotice = page.getByRole('heading', { name: 'This chat was deleted' });
    await deletedNotice.waitFor();
    await page.reload();
    await deletedNotice.waitFor();
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
      await writeMessage(page, 'What can you do?');
      await page.getByRole('button', { name: 'Edit message' }).click();
      await page.getByRole('textbox', { name: 'Edit your message' }).fill('What can you not do?');
      using outside = await connectOutside(at.perch);
      const sessionId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
      await outside.client.call('sessions.delete', { path: `main/${sessionId}.jsonl` });
      const unsent = page.getByRole('list', { name: /^Unsent messages/ }).getByRole('listitem');
      await unsent.getByText('What can you not do?', { exact: true }).waitFor();
      await takeScreenshots(page, 'gone-edit');
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
    await blockDelivery(page);
    await writeMessage(page, '/tool current_time {}');
    await page.waitForURL(/\/chat\//);
    await writeMessage(page, 'held one');
    await waitFor(async () => (await readOutboxRows(page)).filter(({ begins }) => begins).length === 2, 'both to be kept');
    const address = page.url();
    // The page sends the stored queue before it is connected to its own browser's gateway.
    const other = await at.browser.page(address);
    await page.close();
    await approvals(other).waitFor();
    await expectOrder(other, ['held one']);
    await other.getByRole('button', { name: 'Stop' }).click();
    await queuedMessages(other).waitFor();
    await other.getByRole('button', { name: 'Stop', exact: true }).waitFor({ state: 'hidden' });
    const sessionId = new URL(other.url()).pathname.split('/').at(-1) ?? '';
    await outside.client.call('sessions.delete', { path: `main/${sessionId}.jsonl` });
    const deletedNotice = other.getByRole('heading', { name: 'This chat was deleted' });
    await deletedNotice.waitFor();
    await other.reload();
    await deletedNotice.waitFor();
    await other.getByRole('button', { name: 'Continue in a new chat' }).click();
    await expect.poll(() => field(other).inputValue()).toBe('held one');
    await field(other).fill('');
    await other.close();
  });
});
