import { toCanonicalJson } from '#shared/canonical-json.ts';
import { isObject, type Json } from '#shared/merge-patch.ts';

interface ConfigVersions {
  /** Contents of the file. */
  file: Json;
  /** Contents of the file when file and gateway were last in sync. */
  synced: Json;
  /** The gateway's own configuration before the merge. */
  own: Json;
  /** The merged document. */
  document: Json;
}

/**
 * Names of the MCP servers that a person wrote into the file: they differ from the last synced version and from the gateway's, and were
 * merged unchanged. Servers that the gateway wrote, or that combine both sides, do not count as a person's.
 */
export function findTypedServers({ file, synced, own, document }: ConfigVersions): string[] {
  const [typed, before, ours, merged] = [file, synced, own, document].map(getServers);
  return Object.keys(typed ?? {}).filter((name) => {
    const is = toCanonicalJson(typed?.[name]);
    return is !== toCanonicalJson(before?.[name]) && is !== toCanonicalJson(ours?.[name]) && is === toCanonicalJson(merged?.[name]);
  });
}

function getServers({ tools }: Json): Json {
  const servers = isObject(tools) ? tools['mcpServers'] : undefined;
  return isObject(servers) ? servers : {};
}
