import type { ExecPolicy } from '#shared/rpc/methods/exec.ts';
import { sha256 } from '#shared/sha256.ts';
import { mergeSources } from '../trust/sources.ts';
import type { ExecRecord, Vault } from '../vault.ts';

type Policies = Pick<Vault, 'collection'>;

/** The bytes, arguments and place of a command together with who may run it. */
const toId = (standingHash: string, grantee: string): Promise<string> => sha256(`${standingHash} ${grantee}`);

export interface PolicyRequest {
  standingHash?: string | undefined;
  earlierHash?: string | undefined;
  grantee: string;
}

/** The stored policy that lets a command run without asking. One of an older build holds for the owner alone, and the bridge names no such hash for interpreters. */
export async function findPolicy(vault: Policies, { standingHash, earlierHash, grantee }: PolicyRequest): Promise<ExecPolicy | undefined> {
  const policies = vault.collection('execPolicies');
  const own = standingHash === undefined ? undefined : await policies.get(await toId(standingHash, grantee));
  if (own || earlierHash === undefined || grantee !== 'owner') return own;
  const earlier = await policies.get(earlierHash);
  return earlier?.grantee === undefined ? earlier : undefined;
}

/** Lets exactly this command run without asking from now on, for whoever asked for it; after reading from outside, also from the sources of this request. */
export async function storePolicy(vault: Policies, record: ExecRecord, createdAt: number): Promise<void> {
  const { standingHash, grantee, command, args, workingDir } = record;
  // A bridge of an older build does not say what the command runs.
  if (standingHash === undefined || grantee === undefined) return;
  const hash = await toId(standingHash, grantee);
  await vault.collection('execPolicies').update(hash, (before) => {
    const outside = mergeSources(before?.outside, record.outside);
    return { hash, grantee, command, args, workingDir, createdAt, ...(outside.length > 0 ? { outside } : {}) };
  });
}
