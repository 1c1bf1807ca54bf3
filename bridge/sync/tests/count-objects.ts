import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { Objm } from '@nats-io/obj';
import { getStreamNames } from '#shared/sync/nats/vault-streams.ts';
import { KEY } from '../../journal/fixture.ts';
import { RecordSeal } from '../record-seal.ts';
import type { TestNats } from './nats-server.ts';

const { vault } = new RecordSeal(KEY);
export const BUCKET = `PERCH_${vault}_blobs`;

/** Counts a vault's complete objects, and the uploads that have left pieces. */
export async function countObjects(nats: TestNats): Promise<{ objects: number; uploads: number }> {
  const operator = await nats.operator();
  const objects = await (await new Objm(jetstream(operator)).open(BUCKET)).list();
  const pieces = { subjects_filter: `$O.${BUCKET}.C.>` };
  const { state } = await (await jetstreamManager(operator)).streams.info(getStreamNames(vault).objects, pieces);
  await operator.close();
  return { objects: objects.length, uploads: Object.keys(state.subjects ?? {}).length };
}
