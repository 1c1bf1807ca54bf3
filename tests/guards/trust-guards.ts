import type { Guard } from './guard.ts';

const APPROVED_BYTES = 'bridge/capabilities/exec/approved-bytes.test.ts';
const LAUNDERINGS = { test: 'tests/core/injected.test.ts', only: 'not lost on the way' };

/** Guards against ways around an approval, and ways to lose a label. */
export const TRUST_GUARDS: readonly Guard[] = [
  {
    name: 'Always: files that stand inside an argument',
    file: 'bridge/capabilities/exec/data-files.ts',
    find: 'if (!whole.includes(word)) add(word, isOnlyReader);',
    replace: '{}',
    test: APPROVED_BYTES,
    only: 'has the program run',
  },
  {
    name: 'Always: files that can be executed',
    file: 'bridge/capabilities/exec/data-files.ts',
    find: 'isData: isData && (isOnlyReader || !file.isExecutable)',
    replace: 'isData',
    test: APPROVED_BYTES,
    only: 'has the program run',
  },
  {
    name: 'Always: files of a project in which a program finds what to run',
    file: 'bridge/capabilities/exec/data-files.ts',
    find: 'if (!isOnlyReader) for (const file of',
    replace: 'if (false) for (const file of',
    test: APPROVED_BYTES,
    only: 'has the program run',
  },
  {
    name: 'Commands hidden in one argument of env',
    file: 'bridge/capabilities/exec/expand.ts',
    find: "throw new Error('env splits a text into a command. Pass each argument separately');",
    replace: '{}',
    test: APPROVED_BYTES,
    only: 'has the program run',
  },
  {
    name: 'Unreviewed files that a command could load',
    file: 'web/gateway/core/exec/requests.ts',
    find: 'const isAccepted = sources.length === 0 || isGranted(sources);',
    replace: 'const isAccepted = true;',
    test: 'tests/core/exec-approved.test.ts',
    only: 'exec/planted',
  },
  {
    name: 'Unreviewed files that come after the request',
    file: 'web/gateway/core/exec/requests.ts',
    find: 'await this.#requireSeenFiles(record);',
    replace: '',
    test: 'tests/core/exec-approved.test.ts',
    only: 'exec/planted',
  },
  {
    name: 'Labels of skills',
    file: 'web/gateway/core/skills/skills.ts',
    find: 'const outside = mergeSources(',
    replace: 'const outside = [] ?? mergeSources(',
    ...LAUNDERINGS,
  },
  {
    name: 'Labelled skills taint their readers',
    file: 'web/gateway/core/skills/skill-tools.ts',
    find: 'taint?.add(outside);',
    replace: '',
    ...LAUNDERINGS,
  },
  {
    name: 'The browser’s page is asked for its address',
    file: 'web/gateway/core/tools/browser-tools.ts',
    find: 'const found = [...urls.flatMap(toPageSources), ...(isFromAny ? [ANY_PAGE] : [])];',
    replace: "const found = [toWebSource(seen.get(which)?.host ?? 'the browser')];",
    ...LAUNDERINGS,
  },
  {
    name: 'Names of labelled wiki pages',
    file: 'web/gateway/core/wiki/wiki-tools.ts',
    find: `const backlinks = await reviewedPages(await vault.backlinks(page.path), context);
        await taintBy(`,
    replace: `const backlinks = await vault.backlinks(page.path);
        await (async (..._: unknown[]) => {})(`,
    ...LAUNDERINGS,
  },
  {
    name: 'Content that changed after a person saw it',
    file: 'web/gateway/core/trust/reviews.ts',
    find: 'if (label && label.at !== at)',
    replace: 'if (false)',
    test: 'tests/core/taint.test.ts',
    only: 'once a person has approved it',
  },
  {
    name: 'Forwarded messages are not the owner’s',
    file: 'web/gateway/core/channels/answering.ts',
    find: 'message.isForwarded !== true && ',
    replace: '',
    test: 'tests/core/telegram.test.ts',
    only: 'channels/owner-accounts',
  },
  {
    name: 'Replies to others on a channel wait for approval',
    file: 'web/gateway/core/channels/answering.ts',
    find: 'if (outside.length === 0) return await inbox.update(',
    replace: 'if (outside.length >= 0) return await inbox.update(',
    test: 'tests/core/telegram.test.ts',
    only: 'injection/channel-replies',
  },
  {
    name: 'A grant for all tools covers no replies',
    file: 'web/gateway/core/tools/policy.ts',
    find: 'matchesWildcard(pattern, tool) && isHeldReply(pattern) === isHeldReply(tool)',
    replace: 'matchesWildcard(pattern, tool)',
    test: 'tests/core/telegram.test.ts',
    only: 'injection/channel-replies',
  },
  {
    name: 'Composed links of labelled pages',
    file: 'web/gateway/core/trust/labels.ts',
    find: 'return label ? {',
    replace: 'return label && Date.now() < 0 ? {',
    test: 'tests/core/taint.test.ts',
    only: 'injection/links',
  },
  {
    name: 'Messages of limited keys are content from outside',
    file: 'web/gateway/core/runs/runs.ts',
    find: 'await this.#deps.keySources(actsFor), ',
    replace: '',
    test: 'tests/core/key-scopes.test.ts',
    only: 'keys/messages',
  },
];
