import type { Material } from './material.ts';

export const CODE: Material = {
  facts: [
    {
      kind: 'one-turn',
      slots: {
        bug: [
          'a time zone applied twice',
          'an integer that wraps at midnight',
          'a cache that ignores the language',
          'a lock that nobody releases',
        ],
        where: ['the billing service', 'the export job', 'the login page', 'the mobile app'],
      },
      lead: ['Have you found the bug?', 'Is the thing still haunted?'],
      said: ['Found it! Three days, and it was {bug} in {where}.', 'The ghost in {where} has a name: {bug}.'],
      asked: [
        'What was the cause of the defect that {P} hunted?',
        'In which component did {P} find the error?',
        'What bug was in {where} for three days?',
        'What was the ghost in {where}?',
      ],
      answer: '{bug}|{where}',
    },
    {
      kind: 'one-turn',
      slots: {
        db: ['PostgreSQL', 'SQLite', 'MongoDB', 'MariaDB'],
        reason: ['we need it on a train', 'our numbers must add up', 'nobody can read the old schema', 'the licence ran out'],
      },
      lead: ['What will you store it in?', 'Have you settled on where the data goes?'],
      said: ['{db}. {reason}, that decided it.', 'It will be {db}, for {reason}.'],
      asked: [
        'Which database did {P} choose?',
        'Why did {P} decide on that way of storing data?',
        'Which database did {P} take?',
        'Why will it be {db} for {P}?',
      ],
      answer: '{db}|{reason}',
    },
    {
      kind: 'one-turn',
      slots: { port: ['8443', '9200', '5173', '7070'], service: ['staging gateway', 'metrics collector', 'preview server', 'mail relay'] },
      lead: ['Where do I find the service?', 'Did the address change?'],
      said: ['For the record, the {service} listens on {port} from today.', 'I moved the {service} to {port}, the old number was taken.'],
      asked: [
        'On which port does the {service} run for {P}?',
        'What number did {P} give for reaching the {service}?',
        "On which port does {P}'s {service} listen?",
        'Where did {P} move the {service}?',
      ],
      answer: '{port}',
    },
    {
      kind: 'one-turn',
      slots: {
        lib: ['a parser for calendars', 'a font renderer', 'a queue with three consumers', 'a linter for recipes'],
        stars: ['forty', 'two thousand', 'nine', 'six hundred'],
      },
      lead: ['What did you build in your spare time?', 'Is your side project online?'],
      said: [
        'I put {lib} online last night and it has {stars} stars already.',
        '{stars} people clicked the star on {lib}, which I wrote in a bathtub.',
      ],
      asked: [
        'What has {P} published as open source?',
        "How popular is {P}'s library?",
        'What did {P} put online?',
        'What did {P} write in a bathtub?',
      ],
      answer: '{lib}|{stars}',
      alias: ['the author of {lib}', 'the person who published {lib}'],
    },
    {
      kind: 'one-turn',
      slots: {
        who: ['Tomasz', 'Ayesha', 'the intern', 'a contractor in Lima'],
        what: ['dropped the production table', 'pushed the signing key', 'renamed every column', 'turned off the backups'],
      },
      lead: ['Why was everything down on Friday?', 'What caused the outage?'],
      said: ['{who} {what} on Friday at five. We smiled, then we cried.', 'The outage? {who} {what}, and I found out from a customer.'],
      asked: [
        'Who caused the outage at {P}’s place?',
        'What mistake took down the system of {P}?',
        "What happened at {P}'s on Friday at five?",
        'Who was behind the outage of {P}?',
      ],
      answer: '{who}|{what}',
    },
    {
      kind: 'time',
      slots: { version: ['2.0', '3.4', '0.9', '5.1'] },
      lead: ['Is the release out?', 'Did the version go live?'],
      said: [
        'We shipped {version} {when}, and the pager stayed silent all night.',
        '{when} version {version} went out of the door with one known crash.',
      ],
      asked: [
        'When did {P} release version {version}?',
        'On what date did {version} by {P} come out?',
        'When did {P} ship {version}?',
        "When did version {version} go out of {P}'s door?",
      ],
    },
    {
      kind: 'time',
      lead: ['Is the move to the new server over?', 'What about the old server?'],
      said: [
        '{when} I moved everything off the old server and pulled the plug with my own hand.',
        'The old server is dead. I migrated the rest {when}.',
      ],
      asked: [
        'When did {P} finish the migration?',
        'When was the old machine of {P} switched off?',
        'When did {P} move everything off the old server?',
        'When did {P} migrate the rest?',
      ],
    },
    {
      kind: 'preferences',
      slots: { editor: ['Vim with no plugins', 'Emacs, in a terminal', 'a light theme at noon and a dark one after', 'tabs, eight wide'] },
      lead: ['Which editor do you use?', 'Have you set up the new laptop?'],
      said: ['You may laugh, but it is {editor} for me until I die.', 'I set up the new laptop in ten minutes: {editor}, done.'],
      asked: [
        'How does {P} like to edit code?',
        'What editor or setup does {P} favour?',
        'Which editor is it for {P} until death?',
        'What did {P} set up on the new laptop?',
      ],
      answer: '{editor}',
    },
    {
      kind: 'preferences',
      slots: { style: ['early returns', 'long names over comments', 'one file for each idea', 'tests before anything'] },
      lead: ['What do you look at in a review?', 'What do you fight for in code?'],
      said: ['In reviews I fight for {style}, every time.', 'If there is one hill that I die on, it is {style}.'],
      asked: [
        'What coding style does {P} insist on?',
        'What does {P} ask for when looking at the code of others?',
        'What does {P} fight for in reviews?',
        'What is the hill that {P} dies on?',
      ],
      answer: '{style}',
    },
    {
      kind: 'negation',
      slots: { tool: ['Kubernetes', 'regular expressions', 'an ORM', 'code generators'] },
      lead: ['Are you using all that modern stuff?', 'Will you adopt it?'],
      said: ['We get by fine without {tool}, and I will keep it that way.', 'Over my dead body will there be {tool} in this repository.'],
      asked: [
        'Which technology does {P} reject?',
        'What does {P} not want in the project?',
        'What does {P} get by without?',
        "What will never be in {P}'s repository?",
      ],
      answer: '{tool}',
    },
    {
      kind: 'negation',
      slots: { part: ['the importer', 'the Windows build', 'the search page', 'the print view'] },
      lead: ['How is the coverage?', 'Do you have tests for everything?'],
      said: ['All modules have tests by now, only {part} has none.', 'We cover everything except {part}, which is held up by prayer.'],
      asked: [
        "Which part of {P}'s program is untested?",
        'What lacks tests in the code of {P}?',
        'Which module of {P} has no tests?',
        "What do {P}'s tests not cover?",
      ],
      answer: '{part}',
    },
    {
      kind: 'open',
      lead: ['What did you do at the weekend?', 'Is the code clean enough for you?'],
      said: [
        'I rewrote the build in a weekend because a warning had the wrong colour.',
        'I aligned nine hundred equals signs by hand. It was soothing.',
      ],
      asked: [
        'Is {P} a perfectionist as a programmer?',
        'Would {P} ship something with small flaws?',
        'Why did {P} rewrite the build?',
        'What did {P} align by hand?',
      ],
    },
    {
      kind: 'open',
      lead: ['How is the new colleague doing?', 'Do you have time for questions?'],
      said: [
        'When the new one asked me about pointers I drew boxes for two hours and missed lunch.',
        'I keep an hour free each Thursday for anyone who is stuck.',
      ],
      asked: [
        'Would {P} make a good mentor?',
        'Does {P} enjoy teaching?',
        'What did {P} do when the new one asked about pointers?',
        "What is {P}'s free hour on Thursday for?",
      ],
    },
  ],
  collections: [
    {
      asked: [
        'Which programming languages has {P} used?',
        'What languages can {P} write code in?',
        'How many programming languages has {P} learned?',
        'In what languages has {P} written programs?',
      ],
      lead: ['Which language do you write that in?', 'Learning another language for programs?'],
      items: [
        ['I ported the scraper to Rust and now I argue with the borrow checker at night.', 'Rust'],
        ['A little Lua runs the lights on my balcony.', 'Lua'],
        ['They still have COBOL and I am, God help me, the one who reads it.', 'COBOL'],
        ['I did the puzzles in Haskell and felt clever for a week.', 'Haskell'],
        ['Four thousand lines of Perl, inherited, unread.', 'Perl'],
        ['My thesis figures all come out of Julia scripts.', 'Julia'],
        ['Go made the uploader boring in the best way.', 'Go'],
        ['I taught the kids Scratch and their cat now dances.', 'Scratch'],
        ['The statistics are done in R because of one plot that I love.', 'R because'],
        ['Nights with Elixir, and processes that die politely.', 'Elixir'],
      ],
    },
    {
      asked: [
        'Which bugs has {P} fixed?',
        'What problems in software did {P} solve?',
        'How many defects has {P} dealt with?',
        'What kinds of errors did {P} run into?',
      ],
      lead: ['Which bug is it today?', 'What was wrong with the program?'],
      items: [
        ['The memory leak was a listener that we added on each keystroke.', 'leak'],
        ['Dates were off by one in every leap year, not any more.', 'leap year'],
        ['I stopped the crash on start-up, it read a file before it existed.', 'start-up'],
        ['Umlauts came out as hearts; the encoding was declared twice.', 'Umlauts'],
        ['The race between the two uploads is gone, they queue up now.', 'race'],
        ['Our sums drifted by a cent, so I count in cents.', 'cent'],
        ['The page scrolled to the top at every click, I hunted that for days.', 'scrolled'],
        ['Turns out that the printer driver divided by zero on A5.', 'printer driver'],
        ['Mails were sent twice when the worker restarted; each has a key now.', 'sent twice'],
        ['The dark theme had black letters on black, five users noticed.', 'dark theme'],
      ],
    },
  ],
  changes: [
    {
      values: ['Jenkins', 'GitLab', 'Buildkite', 'Drone', 'a shell script'],
      before: ['Our builds run on {old}, it does the job.', 'For continuous integration we have {old}.'],
      after: ['Migration done: every build is on {new} as of today.', 'We threw the old thing out and {new} runs the integration now.'],
      asked: ["What does {P}'s team use for builds now?", 'Which integration system is currently in use at {P}’s?'],
    },
    {
      values: ['main', 'develop', 'release', 'trunk', 'next'],
      before: ['Please send pull requests against {old}.', 'We all branch from {old} as it stands.'],
      after: [
        'New rule since this morning: pull requests go against {new}.',
        'From now on everybody branches from {new}, the other one is frozen.',
      ],
      asked: ['Which branch should pull requests to {P} target?', 'What branch does {P} say to start from at present?'],
    },
  ],
  contradictions: [
    {
      first: ['Types are for people who cannot remember what they wrote.', 'Comments are a sign of failure, I delete them.'],
      second: [
        'I put types on the whole module and found eleven bugs before lunch.',
        'I spent the day writing comments; I could not understand my own parser.',
      ],
      asked: ['What has {P} said for and against types or comments?', 'Did {P} come round on comments or typing?'],
    },
    {
      first: ['The backups are fine, I tested the restore myself.', 'Nobody uses the old API, we can remove it.'],
      second: [
        'There was nothing in the backup. The restore had never been tried.',
        'Two hundred customers still call the old API, I checked the logs.',
      ],
      asked: ['Is what {P} says about backups or the old API consistent?', 'Which claims did {P} make about the API or about restoring?'],
    },
  ],
  chatter: [
    'Software is a way to turn coffee into regret.',
    'The build is slow again.',
    'I should write more tests, I know.',
    'Did you see the discussion about frameworks?',
    'Computers were a mistake.',
    'My code from last year offends me.',
    'I just restarted it and it works, so I am not asking.',
    'Naming things took all morning.',
    'There is always one more bug.',
    'The server hums like a fridge.',
  ],
};
