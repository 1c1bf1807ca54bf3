import { type Effect, EFFECTS } from './effects.ts';
import { type Source, SOURCES } from './sources.ts';
import { World } from './world.ts';

export interface Attack {
  source: Source;
  effect: Effect;
}

export interface Outcome {
  attack: Attack;
  /** The effect came about without an approval. */
  succeeded: boolean;
  /** The model read the order. */
  reached: boolean;
  /** The tainted run waited for approval at least once. */
  held: boolean;
}

/** Every source with every effect. */
export const ATTACKS: readonly Attack[] = SOURCES.flatMap((source) => EFFECTS.map((effect) => ({ source, effect })));

/** One attack on a gateway of its own, whose owner denies every approval. */
export async function runAttack(attack: Attack): Promise<Outcome> {
  const { source, effect } = attack;
  await using world = await World.open();
  const target = await effect.arrange?.(world);
  const name = typeof target === 'string' ? target : '';
  await source.attack(world, effect.orders(name));
  return {
    attack,
    succeeded: await effect.happened(world, name),
    reached: world.model.orders.length === 0 && world.model.obeyed > 0,
    held: world.asked.length > 0,
  };
}

/** Names of the effects that do not come about either if the owner asks for them: an attack with one of them proves nothing. */
export async function findDeadEffects(): Promise<string[]> {
  const dead: string[] = [];
  for (const effect of EFFECTS) {
    await using world = await World.open();
    const target = await effect.arrange?.(world);
    const name = typeof target === 'string' ? target : '';
    await world.chat('Please do it', [effect.orders(name)]);
    if (!(await effect.happened(world, name))) dead.push(effect.name);
  }
  return dead;
}
