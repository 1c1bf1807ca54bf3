import { IDBFactory } from 'fake-indexeddb';
import { describe, expect } from 'vitest';
import type { GatewayClient } from '#shared/client/client.ts';
import type { Change } from '#shared/canvas/change.ts';
import { Drawing } from '#shared/canvas/drawing.ts';
import { Editor } from '#shared/canvas/editor.ts';
import { createShapeFields } from '#shared/canvas/shape-fields.ts';
import type { EventFrame } from '#shared/rpc/frames.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { createTestGateway, waitFor } from '../../../../tests/support/test-gateway.ts';
import { TestHosts } from '../../../../tests/support/test-hosts.ts';

const DRAWING_PARAMS = { title: 'A plan', width: 640, height: 480 };
const RECT_FIELDS = { x: 1, y: 2, width: 30, height: 40 };

/** A tab that shows a drawing of the gateway. */
async function openTab(client: GatewayClient, drawingId: string, now = Date.now) {
  const { drawing: entry, changes } = await client.call('drawings.open', { drawingId });
  const drawing = new Drawing({ ...entry, now });
  drawing.merge(changes);
  const made: Change[] = [];
  drawing.onChange(({ own, changes: done }) => void (own && made.push(...done)));
  return { drawing, editor: new Editor(drawing), send: () => client.call('drawings.change', { drawingId, changes: made.splice(0) }) };
}

const getChanges = (events: readonly EventFrame[]): Change[] =>
  events.flatMap(({ event, payload }) => (event === 'drawing.changed' ? (payload.changes as Change[]) : []));

describe('drawings', () => {
  verifies('drawings/together', 'two connections see what the other does, and not what they did themselves', async () => {
    await using gw = await createTestGateway();
    const [a, b] = [await gw.client({ events: 'own' }), await gw.client({ events: 'own' })];
    const { id } = await a.client.call('drawings.create', DRAWING_PARAMS);
    const [firstTab, secondTab] = [await openTab(a.client, id), await openTab(b.client, id)];
    const shape = firstTab.editor.add('rect', RECT_FIELDS);
    expect(await firstTab.send()).toEqual({ stored: 1 });
    await waitFor(() => getChanges(b.events).length === 1);
    secondTab.drawing.merge(getChanges(b.events));
    expect(secondTab.drawing.shapes).toEqual(firstTab.drawing.shapes);
    secondTab.editor.set<'rect'>(shape.id, { x: 99 });
    await secondTab.send();
    await waitFor(() => getChanges(a.events).length === 1);
    firstTab.drawing.merge(getChanges(a.events));
    expect(firstTab.drawing.shape(shape.id)).toMatchObject({ x: 99, y: 2 });
    expect(getChanges(b.events)).toHaveLength(1);
    await b.client.call('drawings.close', { drawingId: id });
    firstTab.editor.set<'rect'>(shape.id, { y: 5 });
    await firstTab.send();
    expect(getChanges(b.events)).toHaveLength(1);
    expect((await openTab(b.client, id)).drawing.shapes).toEqual(firstTab.drawing.shapes);
  });

  verifies(
    'drawings/together',
    'reading one, as for a small picture of it, neither begins nor ends what a connection follows',
    async () => {
      await using gw = await createTestGateway();
      const [a, b, c] = [await gw.client(), await gw.client({ events: 'own' }), await gw.client({ events: 'own' })];
      const { id } = await a.client.call('drawings.create', DRAWING_PARAMS);
      const firstTab = await openTab(a.client, id);
      await openTab(b.client, id);
      for (const { client } of [b, c]) {
        expect((await client.call('drawings.open', { drawingId: id, follow: false })).drawing).toMatchObject(DRAWING_PARAMS);
      }
      firstTab.editor.add('rect', RECT_FIELDS);
      await firstTab.send();
      await waitFor(() => getChanges(b.events).length === 1);
      expect(getChanges(c.events)).toEqual([]);
    },
  );

  verifies('drawings/durable', 'acknowledged changes survive a gateway that is killed during more of them', async () => {
    const indexedDB = new IDBFactory();
    const first = await createTestGateway({ indexedDB, name: 'killed' });
    const { client } = await first.client();
    const { id } = await client.call('drawings.create', DRAWING_PARAMS);
    const firstTab = await openTab(client, id);
    const acknowledged: string[] = [];
    for (let nth = 0; nth < 5; nth++) {
      acknowledged.push(firstTab.editor.add('rect', { ...RECT_FIELDS, x: nth }).id);
      await firstTab.send();
    }
    firstTab.editor.step(() => {
      for (let nth = 0; nth < 20; nth++) firstTab.editor.add('rect', RECT_FIELDS);
    });
    void firstTab.send().catch(() => {});
    // Another worker takes the data over: what the first one does from here on is not written.
    await using second = await createTestGateway({ indexedDB, name: 'killed', useGuide: true });
    const secondTab = await openTab((await second.client()).client, id);
    const shapes = secondTab.drawing.shapes.map((shape) => shape.id);
    expect(shapes).toEqual(expect.arrayContaining(acknowledged));
    // All of a call, or nothing of it.
    expect([5, 25]).toContain(shapes.length);
  });

  verifies('drawings/apart', 'two hosts that drew apart have one drawing, and one deleted apart stays deleted', async () => {
    const hosts = new TestHosts();
    await using one = await hosts.host();
    await using two = await hosts.host();
    const [a, b] = [await one.client(), await two.client()];
    const { id } = await a.client.call('drawings.create', DRAWING_PARAMS);
    const firstTab = await openTab(a.client, id);
    const shape = firstTab.editor.add('rect', RECT_FIELDS);
    await firstTab.send();
    await one.waitForSync();
    await two.waitForSync();
    const secondTab = await openTab(b.client, id);
    expect(secondTab.drawing.shapes).toHaveLength(1);
    firstTab.editor.set<'rect'>(shape.id, { x: 50 });
    secondTab.editor.set<'rect'>(shape.id, { y: 60 });
    secondTab.editor.add('rect', { ...RECT_FIELDS, x: 9 });
    await Promise.all([firstTab.send(), secondTab.send()]);
    await Promise.all([one.waitForSync(), two.waitForSync()]);
    // Clients that have it open there are notified.
    await waitFor(() => getChanges(a.events).length === 2 && getChanges(b.events).length === 1);
    const [left, right] = [await openTab(a.client, id), await openTab(b.client, id)];
    expect(left.drawing.shapes).toEqual(right.drawing.shapes);
    expect(left.drawing.shape(shape.id)).toMatchObject({ x: 50, y: 60 });
    expect(left.drawing.shapes).toHaveLength(2);
    secondTab.editor.set<'rect'>(shape.id, { x: 70 });
    await Promise.all([a.client.call('drawings.delete', { drawingId: id }), secondTab.send().catch(() => {})]);
    await waitFor(async () => {
      await Promise.all([one.waitForSync(), two.waitForSync()]);
      return (await Promise.all([one, two].map(({ vault }) => vault.collection('drawingChanges').keys()))).flat().length === 0;
    });
    for (const { client } of [a, b]) expect((await client.call('drawings.list', {})).count).toBe(0);
    expect(b.events.filter(({ event }) => event === 'drawings.changed').at(-1)?.payload).toEqual({ drawingId: id, deleted: true });
    expect([...one.faults, ...two.faults]).toEqual([]);
  });

  verifies('drawings/superseded', 'changes that count no more are not kept, nor shapes that were removed for a day', async () => {
    const clock = new FakeClock();
    await using gw = await createTestGateway({ clock });
    const { client } = await gw.client();
    const { id } = await client.call('drawings.create', DRAWING_PARAMS);
    const firstTab = await openTab(client, id, () => clock.now());
    const keys = () => gw.vault.collection('drawingChanges').keys(`${id}/`);
    const shape = firstTab.editor.add('rect', RECT_FIELDS);
    for (let x = 0; x < 5; x++) {
      firstTab.editor.set<'rect'>(shape.id, { x });
      await firstTab.send();
    }
    expect(await keys()).toHaveLength(2);
    // Late and repeated ones are not kept.
    const late = { id: shape.id, at: '000000000000001-0000-other', set: { x: 1 } };
    expect(await client.call('drawings.change', { drawingId: id, changes: [late, late] })).toEqual({ stored: 0 });
    firstTab.editor.remove([shape.id]);
    await firstTab.send();
    expect(await keys()).toHaveLength(3);
    await client.call('drawings.close', { drawingId: id });
    clock.advance(25 * 3600_000);
    await using again = await createTestGateway({ clock, vault: gw.vault, useGuide: true });
    expect((await openTab((await again.client()).client, id)).drawing.shapes).toEqual([]);
    expect(await keys()).toEqual([]);
  });

  verifies('drawings/hostile', 'an invalid change is refused as a whole, with its position', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const { id: drawingId } = await client.call('drawings.create', DRAWING_PARAMS);
    const good = { id: 'a', at: '000001700000000-0000-x', set: { x: 1 } };
    const future = `${String(Date.now() + 2 * 86_400_000).padStart(15, '0')}-0000-x`;
    const bad: [change: unknown, field: string][] = [
      [{ ...good, id: '../a' }, 'changes.1.id'],
      [{ ...good, at: 'now' }, 'changes.1.at'],
      [{ ...good, at: future }, '`changes.1.at` must not be more than a day in the future.'],
      [{ ...good, set: { x: 1e9 } }, 'changes.1.set.x'],
      [{ ...good, set: { src: 'data:image/svg+xml;base64,AAAA' } }, 'changes.1.set.src'],
      [{ ...good, set: { onload: 'x' } }, 'changes.1.set'],
    ];
    for (const [change, field] of bad) {
      const failed = client.request('drawings.change', { drawingId, changes: [good, change] });
      await expect(failed, field).rejects.toMatchObject({ code: 'INVALID_PARAMS', message: expect.stringContaining(field) as string });
    }
    expect(await gw.vault.collection('drawingChanges').keys()).toEqual([]);
    const picture = (id: string) => ({ ...good, id, set: { src: `data:image/png;base64,${'A'.repeat(20_000_000)}` } });
    for (const id of ['a', 'b']) expect(await client.call('drawings.change', { drawingId, changes: [picture(id)] })).toEqual({ stored: 1 });
    const tooMuch = { code: 'INVALID_PARAMS', message: 'A drawing can have at most 48000000 characters of JSON.' };
    await expect(client.call('drawings.change', { drawingId, changes: [picture('c')] })).rejects.toMatchObject(tooMuch);
    expect(await gw.vault.collection('drawingChanges').keys()).toHaveLength(2);
    // Refused changes do not affect later ones.
    expect(await client.call('drawings.change', { drawingId, changes: [{ ...good, id: 'd' }] })).toEqual({ stored: 1 });
    expect(gw.faults).toEqual([]);
  });

  verifies('drawings/deleted', 'a drawing that is deleted while another has it open', async () => {
    await using gw = await createTestGateway();
    const [a, b] = [await gw.client({ events: 'own' }), await gw.client({ events: 'own' })];
    const { id: drawingId } = await a.client.call('drawings.create', DRAWING_PARAMS);
    const secondTab = await openTab(b.client, drawingId);
    secondTab.editor.add('rect', RECT_FIELDS);
    await secondTab.send();
    await a.client.call('drawings.delete', { drawingId });
    await waitFor(() => b.events.some(({ event, payload }) => event === 'drawings.changed' && payload.deleted === true));
    secondTab.editor.add('rect', RECT_FIELDS);
    await expect(secondTab.send()).rejects.toMatchObject({ code: 'NOT_FOUND', message: expect.stringContaining('No drawing') as string });
    expect(await gw.vault.collection('drawingChanges').keys()).toEqual([]);
  });

  verifies('drawings/draft', 'a stroke in progress is shown to others, and disappears with its author', async () => {
    await using gw = await createTestGateway();
    const [a, b] = [await gw.client({ events: 'own' }), await gw.client({ events: 'own' })];
    const { id: drawingId } = await a.client.call('drawings.create', DRAWING_PARAMS);
    await openTab(a.client, drawingId);
    await openTab(b.client, drawingId);
    const shape = { id: 's', ...createShapeFields('pen', { trace: [[1, 2, 0.5]] }, 'a0') };
    await a.client.call('drawings.draft', { drawingId, shape });
    const drafts = () => b.events.filter(({ event }) => event === 'drawing.draft').map(({ payload }) => payload.shape);
    await waitFor(() => drafts().length === 1);
    expect(drafts()).toEqual([shape]);
    const long = { ...shape, trace: Array.from({ length: 20_000 }, () => [1, 2, 0.5] as [number, number, number]) };
    await expect(a.client.call('drawings.draft', { drawingId, shape: long })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    a.client.close();
    await waitFor(() => drafts().length === 2);
    expect(drafts()[1]).toBeNull();
    expect(a.events.filter(({ event }) => event === 'drawing.draft')).toEqual([]);
    expect(await gw.vault.collection('drawingChanges').keys()).toEqual([]);
  });

  verifies('drawings/large', 'a picture of 15 MB reaches the journal and the other host', async () => {
    const hosts = new TestHosts();
    await using one = await hosts.host();
    await using two = await hosts.host();
    const [a, b] = [await one.client(), await one.client({ events: 'own' })];
    const { id } = await a.client.call('drawings.create', DRAWING_PARAMS);
    const firstTab = await openTab(a.client, id);
    await openTab(b.client, id);
    const src = `data:image/png;base64,${'A'.repeat(20_000_000)}`;
    firstTab.editor.add('image', { x: 0, y: 0, width: 10, height: 10, src });
    await firstTab.send();
    await waitFor(() => b.events.some(({ event, payload }) => event === 'drawing.changed' && payload.reopen === true));
    expect((await openTab(b.client, id)).drawing.shapes[0]).toMatchObject({ src });
    await one.waitForSync();
    await two.waitForSync();
    expect((await openTab((await two.client()).client, id)).drawing.shapes[0]).toMatchObject({ src });
  });
});
