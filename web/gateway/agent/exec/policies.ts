import type { ExecPolicy } from '#shared/rpc/methods/exec-contracts.ts';
import { sha256 } from '#shared/sha256.ts';
import { mergeSources } from '../trust/content-sources.ts';
import type { ExecRecord, Vault } from '../../storage/vault-interface.ts';

type PolicyVault = Pick<Vault, 'collection'>;

/** Hash of a command's bytes, arguments and folder together with its grantee. */
const toId = (standingHash: string, grantee: string): Promise<string> => sha256(`${standingHash} ${grantee}`);

interface PolicyRequest {
  standingHash?: string | undefined;
  earlierHash?: string | undefined;
  grantee: string;
}

/**
 * The stored policy that lets a command run without asking. Policies of older builds apply to the owner only, and the bridge sends no such
 * hash for interpreters.
 */
export async function findPolicy(
  vault: PolicyVault,
  { standingHash, earlierHash, grantee }: PolicyRequest,
): Promise<ExecPolicy | undefined> {
  const policies = vault.collection('execPolicies');
  const own = standingHash === undefined ? undefined : await policies.get(await toId(standingHash, grantee));
  if (own || earlierHash === undefined || grantee !== 'owner') return own;
  const earlier = await policies.get(earlierHash);
  return earlier?.grantee === undefined ? earlier : undefined;
}

/**
 * Lets exactly this command run without asking from now on, for the same grantee; after reading from outside, also for the sources of this
 * request.
 */
export async function storePolicy(vault: PolicyVault, record: ExecRecord, createdAt: number): Promise<void> {
  const { standingHash, grantee, command, args, workingDir } = record;
  // A bridge of an older build does not report what the command runs.
  if (standingHash === undefined || grantee === undefined) return;
  const hash = await toId(standingHash, grantee);
  await vault.collection('execPolicies').update(hash, (before) => {
    const outside = mergeSources(before?.outside, record.outside);
    return { hash, grantee, command, args, workingDir, createdAt, ...(outside.length > 0 ? { outside } : {}) };
  });
}
