import 'fake-indexeddb/auto';
import { expect, it } from 'vitest';
import type { Delivery } from '#shared/rpc/methods/delivery-contracts.ts';
import { createDeliveries } from '../../../../tests/support/delivery-gateway.ts';
import { FaultyPlatform } from '../../../../tests/support/faulty-platform.ts';
import { createRandom, SEED } from '../../../../tests/support/seed.ts';
import type { Deliveries } from './deliveries.ts';

const CASES = [
  { count: 300, isInMemory: false },
  // 10,000 in the long run.
  { count: process.env['PERCH_LONG'] ? 10_000 : 2_000, isInMemory: true },
];
const TARGETS = 20;

/** Some messages have several pieces, which all differ. */
const toText = (index: number): string => Array.from({ length: index % 50 === 0 ? 25 : 1 }, (_, word) => `#${index}/${word}.`).join(' ');

it.each(CASES)(
  '$count deliveries by a faulty platform, across crashes: none doubled, lost or without proof',
  async ({ count, isInMemory }) => {
    const random = createRandom(SEED);
    const setup = await createDeliveries({ isInMemory });
    const { clock } = setup;
    let deliveries: Deliveries;
    const platform = new FaultyPlatform({ clock, random, faultPercent: 30, onReceipts: (all) => deliveries.receive('test', all) });
    const start = async (): Promise<void> => {
      deliveries = await setup.open();
      deliveries.registerCarrier('channel', platform.carrier);
      deliveries.start();
    };
    await start();
    const send = (index: number): Promise<Delivery> =>
      deliveries.send({
        key: `delivery ${index}`,
        target: { kind: 'channel', channelId: 'test', to: `${index % 2 === 0 ? 'find' : 'blind'}-${index % TARGETS}` },
        text: toText(index),
        source: { kind: 'job', id: 'test' },
      });
    const indexes = Array.from({ length: count }, (_, index) => index);
    // A job that is run twice for one tick asks for the same delivery.
    await Promise.all(indexes.flatMap((index) => (random(10) === 0 ? [send(index), send(index)] : [send(index)])));

    let all: Delivery[] = [];
    for (let turn = 0; ; turn++) {
      // The process dies now and then, with requests under way.
      if (turn % 40 === 20 && turn < 400) {
        deliveries!.stop();
        await start();
      }
      await setup.settle();
      platform.flush();
      clock.advance(turn < 500 ? 5_000 : 3_600_000);
      if (turn % 20 > 0) continue;
      all = (await deliveries!.list({ limit: count * 2 })).deliveries;
      if (all.every(({ state }) => ['delivered', 'read', 'unsent', 'unconfirmed'].includes(state))) break;
      if (turn > 2000)
        throw new Error(`Not all have ended: ${JSON.stringify(all.find(({ state }) => state === 'accepted' || state === 'waiting'))}`);
    }
    deliveries!.stop();

    expect(all).toHaveLength(count);
    const counts = new Map<string, number>();
    for (const { text, to } of platform.messages) counts.set(`${to} ${text}`, (counts.get(`${to} ${text}`) ?? 0) + 1);
    const doubled = [...counts].filter(([, count]) => count > 1);
    const isOnPlatform = ({ target, text }: Delivery): boolean => {
      const pieces = text.match(/.{1,100}/gs) ?? [];
      return target.kind === 'channel' && pieces.every((piece) => counts.has(`${target.to ?? ''} ${piece}`));
    };
    const unproven = all.filter((each) => (each.state === 'delivered' || each.state === 'read') && !isOnPlatform(each));
    // What is not delivered says why: refused by the platform, or uncertain at a platform that cannot be asked.
    const lost = all.filter(
      (each) =>
        (each.state === 'unsent' && (each.error === undefined || isOnPlatform(each))) ||
        (each.state === 'unconfirmed' &&
          each.acceptedAt === undefined &&
          (each.target.kind !== 'channel' || each.target.to?.startsWith('find') === true)),
    );
    expect({ doubled, unproven, lost, faults: setup.faults }).toEqual({ doubled: [], unproven: [], lost: [], faults: [] });
    const byState = Object.groupBy(all, ({ state }) => state);
    expect(Object.keys(byState)).toEqual(expect.arrayContaining(['delivered', 'read', 'unconfirmed']));
  },
);
