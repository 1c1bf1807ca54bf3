import { chosenSection, specifiedSection } from './requirement.ts';

/** Commands on the bridge's machine, and a person's word before any tool has an effect. */
export const exec = [
  specifiedSection('interface 1, section 4.1', {
    'exec/list': '`exec.list` answers `{requests, count}`, `exec.get` `{request}`.',
    'exec/create': '`exec.create {command, args?, workingDir?}` answers `{request}`.',
    'exec/decide': '`exec.approve` and `exec.deny` answer `{request}`.',
  }),
  specifiedSection('interface 1, section 4.2', {
    'exec/earlier': '`tools.exec_approve {requestId, approved}` answers `{ok}`.',
  }),
  chosenSection('decisions, "Cron, tools, exec, plans"', {
    'exec/states':
      'pending → approved → running → completed or failed; or denied, expired after 300 s, cancelled. One that is not pending is returned as it is.',
    'exec/split':
      'A command without arguments that is neither a path nor a program is split into words. Shell operators, patterns and expansions that are not quoted are refused.',
    'exec/told': 'The connection that asked for a command gets its events, though it follows no session.',
    'exec/answers-at-once': '`exec.approve` answers at once, and the command runs on.',
    'exec/admin': 'Approving and denying need the scope `admin`.',
    'exec/bound': 'An approval binds to command, real path, the program’s bytes, arguments, directory and environment, and is used once.',
    'exec/script':
      'What is executed is shown, hashed and run as the same bytes: the program, an interpreter’s script, what a shebang names. Files among the arguments are hashed at approval and at the start.',
    'exec/planted':
      'If a workspace folder that a command could load code from has files from outside that nobody has reviewed, the command waits for approval, whatever was allowed, and its request names them.',
    'exec/standing': 'A stored "always" is bound to the bytes and to whom it was given; it leaves out files that only hold data.',
    'exec/no-shell': 'A command runs without a shell: its arguments reach the program as they are.',
    'exec/policies': 'A stored "always" covers exactly the same command, until it is taken back.',
    'exec/needs-bridge': 'Without a bridge `exec.create` is INTERNAL_ERROR "needs the bridge".',
    'exec/newest-first': '`exec.list` lists everything, the newest first; the newest 500 are kept.',
    'exec/restart':
      'A command that ran when its host died is failed at the next start, and never runs twice; what waited expires in its time, and what a person had approved but had not begun runs in that time.',
    'exec/hosts': 'With several hosts the one whose request it is runs it, also where the word was given through another.',
    'approvals/every-tool': 'A tool with an effect runs after a person’s word, unless its policy says otherwise: auto, ask or deny.',
    'approvals/bound-to-fail': 'Nobody is asked for a call that must fail, as far as that can be told before.',
    'approvals/expiry': 'A question that nobody answers in 300 s is denied; a run that ends takes its questions along.',
    'approvals/told': 'A denial is told to the model as the tool’s result.',
    'approvals/persons': 'API keys and channels never approve, nor change what runs without asking.',
    'approvals/always': '`always` makes the tool’s policy auto, and of a command stores exactly that command.',
    'approvals/agents-command': 'An agent’s command makes a request and waits for it; its entry among the approvals names it.',
  }),
  chosenSection('quality, "Security"', {
    'exec/environment': 'A command’s environment is a list of names that it needs, without tokens of ours.',
    'exec/tree':
      'All processes of a command are gone 2 s after its end, also those that made a session of their own, and also where the bridge dies.',
    'exec/flood': 'Output beyond 1 MiB of each kind is read and dropped: memory stays as it is, and the command goes on.',
    'exec/directory':
      'A command runs in a folder of the bridge’s own, or in an absolute directory that is there; anything else is INVALID_PARAMS.',
    'injection/no-effect': 'A model that obeys every injected instruction changes nothing without an approval.',
    'injection/labels':
      'Content that a run adds after it has read from outside carries a label with its sources until a person approves it: whoever reads it is tainted, and recall leaves it out.',
    'injection/channel-replies':
      'A reply to somebody else on a channel, in a run that has read from elsewhere, waits for an approval, also across a restart.',
    'injection/links':
      'The app asks before it opens an address that a model composed after reading from outside, in replies, wiki pages, day notes and reports of dreaming.',
    'injection/grants': 'A person may allow a tool to run after reading from named sources, once or for a job.',
    'injection/imports': 'Imported memories, files and clipped pages carry their source and wait for review.',
    'injection/review': 'A person reviews labelled content in one place: approve, discard, or trust a whole chat.',
    'approvals/app': 'What waits is shown in the chat, with what exactly will happen, and is approved, once or always, or denied there.',
    'approvals/page':
      'A page has all that waits, what is always allowed and can be revoked, and what was decided with its outcome, all of it live; its link says how many wait.',
    'approvals/countdown': 'How long a question still waits is told by the gateway’s clock, also where this machine’s is wrong.',
  }),
];
