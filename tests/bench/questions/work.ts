import type { Material } from './material.ts';

export const WORK: Material = {
  facts: [
    {
      kind: 'one-turn',
      slots: {
        firm: ['Halvorsen Shipping', 'a museum of clocks', 'the water board', 'a start-up for hearing aids', 'Brightwell Press'],
        role: ['planner', 'archivist', 'field engineer', 'buyer', 'editor'],
      },
      lead: ['And, did they call you back?', 'How did the interview go?'],
      said: ['They offered it to me on the spot! I start as {role} at {firm}.', 'I am in! {firm}, and my card will say {role}.'],
      asked: ["What is {P}'s new job?", 'Which employer hired {P}?', 'Which job was {P} offered?', "What will it say on {P}'s card?"],
      answer: '{role}|{firm}',
      alias: ['the person hired by {firm}', 'the one who got the post at {firm}'],
    },
    {
      kind: 'one-turn',
      slots: {
        boss: ['Ingrid', 'Mr Castellanos', 'Priya', 'Dr Weiss'],
        habit: ['answers mails with a single comma', 'holds meetings standing', 'whistles before bad news', 'brings her parrot on Fridays'],
      },
      lead: ['How is the new boss?', 'What are your superiors like?'],
      said: ['{boss}, who runs our department, {habit}.', 'You would enjoy the woman I report to. {boss} {habit}, I kid you not.'],
      asked: ["Who is {P}'s manager?", "What odd habit does {P}'s boss have?", "Who runs {P}'s department?", 'Whom does {P} report to?'],
      answer: '{boss}',
    },
    {
      kind: 'one-turn',
      slots: { amount: ['three per cent', 'two hundred a month', 'nothing but a fruit basket', 'five per cent and a bicycle'] },
      lead: ['Did you dare to ask for more money?', 'What came of your talk about pay?'],
      said: [
        'I did. It came to {amount}, after forty minutes of small talk.',
        'They thought about it for a month and then it was {amount}.',
      ],
      asked: [
        'What raise did {P} get?',
        "How did {P}'s salary negotiation turn out?",
        'How much more money did {P} get?',
        'What did they give {P} after the talk about pay?',
      ],
      answer: '{amount}',
    },
    {
      kind: 'one-turn',
      slots: {
        project: ['Lighthouse', 'Copper Fox', 'Project Juniper', 'Atlas'],
        about: [
          'moves all invoices into one system',
          'measures noise at airports',
          'digitises parish registers',
          'plans bus routes by night',
        ],
      },
      lead: ['What do they have you do all day?', 'Which project are you on?'],
      said: ['They put me on {project}, the thing that {about}.', 'My days belong to {project} now. It {about}, in theory.'],
      asked: [
        'Which project is {P} working on?',
        'What is the name of the undertaking {P} was assigned to?',
        'What project was {P} put on?',
        "What do {P}'s days belong to?",
      ],
      answer: '{project}',
    },
    {
      kind: 'one-turn',
      slots: {
        client: ['a hotel chain', 'the fire brigade', 'a chocolate maker', 'two universities'],
        reason: ['the colours made them sad', 'we missed the deadline by a day', 'their director resigned', 'a cousin does it cheaper'],
      },
      lead: ['Why is everyone so gloomy at the office?', 'Is business good?'],
      said: ['We lost {client} because {reason}. The whole floor is quiet.', '{client} walked away, and all that since {reason}.'],
      asked: [
        "Why did {P}'s company lose a customer?",
        "Which client left {P}'s firm?",
        "Which client did {P}'s people lose?",
        "Which client walked away from {P}'s company?",
      ],
      answer: '{reason}|{client}',
    },
    {
      kind: 'one-turn',
      slots: {
        person: ['Olu', 'Marieke', 'Stefan', 'the new trainee, Bao'],
        gift: ['a bonsai', 'a signed football', 'a jar of pickled lemons', 'a voucher for skydiving'],
      },
      lead: ['Was there a party at work?', 'Who was the cake for?'],
      said: [
        '{person} left today after twelve years. We passed the hat round and got {gift}.',
        'Farewell party for {person} at noon; {gift} was my idea and there were tears.',
      ],
      asked: [
        'What did {P} and the team give to a departing colleague?',
        "Who left {P}'s workplace?",
        "What did {P}'s colleagues get for the one who left after twelve years?",
        "For whom was the farewell party at {P}'s work?",
      ],
      answer: '{gift}|{person}',
    },
    {
      kind: 'time',
      lead: ['You did not really do it, did you?', 'Are you still with that company?'],
      said: [
        'I handed in my notice {when}. My hands shook, my voice did not.',
        'It is done. {when} I told them I am leaving, and I slept like a stone.',
      ],
      asked: [
        'When did {P} resign?',
        'On which day did {P} quit the job?',
        'When did {P} hand in the notice?',
        'When did {P} tell them about leaving?',
      ],
    },
    {
      kind: 'time',
      slots: { topic: ['tidal power', 'reading rooms', 'cheap sensors', 'bees in cities'] },
      lead: ['How was the conference?', 'Were you nervous on stage?'],
      said: [
        'I gave the talk on {topic} {when} in front of two hundred people.',
        '{when} it was me on the stage, twenty minutes about {topic} and no water left.',
      ],
      asked: [
        'When did {P} give a presentation?',
        'What did {P} do professionally in {date}?',
        'When did {P} give the talk on {topic}?',
        'When was {P} on the stage to speak about {topic}?',
      ],
    },
    {
      kind: 'time',
      lead: ['What are you celebrating?', 'Why is there cake?'],
      said: [
        'Promotion! It became official {when}, there was even cake.',
        '{when} they made me head of the group. My mother has told the entire village.',
      ],
      asked: [
        'When was {P} promoted?',
        'How long ago did {P} move up at work?',
        "When did {P}'s promotion become official?",
        'When was {P} made head of the group?',
      ],
    },
    {
      kind: 'preferences',
      slots: {
        mode: [
          'at the kitchen table before six',
          'in the quiet carriage of a train',
          'with rain sounds in my ears',
          'at the library, third floor',
        ],
      },
      lead: ['Where do you manage to concentrate?', 'How do you get so much done?'],
      said: ['I only get real work done {mode}.', 'Give me {mode} and I will write you anything.'],
      asked: [
        'Where or how does {P} work best?',
        'Under what conditions is {P} most productive?',
        'Where does {P} get real work done?',
        'What does {P} need to write well?',
      ],
      answer: '{mode}',
    },
    {
      kind: 'preferences',
      slots: { way: ['a short phone call', 'a note on paper', 'one long mail on Mondays', 'voice messages'] },
      lead: ['How should I reach you about this?', 'Why do you never answer in the chat?'],
      said: [
        'If it is important, {way} beats every chat program for me.',
        'People who want something from me should try {way}, I like that best.',
      ],
      asked: [
        'How does {P} want to be contacted?',
        'Which way of communicating suits {P}?',
        'What beats chat programs for {P}?',
        'What should people who want something from {P} try?',
      ],
      answer: '{way}',
    },
    {
      kind: 'negation',
      slots: { who: ['Gunnar', 'the auditors', 'our director', 'Samira'] },
      lead: ['How was the kick-off?', 'Was everyone at the start of the project?'],
      said: [
        'Everybody was at the kick-off except {who}, who had the only copy of the plan.',
        '{who} did not show up at the kick-off. No excuse, no call.',
      ],
      asked: [
        'Who missed the kick-off that {P} attended?',
        'Who was absent from the first meeting according to {P}?',
        'Who was not at the kick-off that {P} told of?',
        "Who did not show up at {P}'s kick-off?",
      ],
      answer: '{who}',
    },
    {
      kind: 'negation',
      slots: { duty: ['taking minutes', 'Saturday shifts', 'anything with budgets', 'training newcomers'] },
      lead: ['Do they still give you all the chores?', 'Are you not the one who always helps out?'],
      said: [
        'I told them kindly that {duty} is not something I will do any more.',
        'There is one thing I no longer take on, and that is {duty}.',
      ],
      asked: [
        'What does {P} decline to do at work?',
        'Which duties has {P} given up?',
        'What will {P} not do any more for the company?',
        'What does {P} no longer take on?',
      ],
      answer: '{duty}',
    },
    {
      kind: 'open',
      lead: ['Are you resting at least?', 'How is the holiday?'],
      said: [
        'I answered mails from the delivery room. In my defence, it was a slow morning.',
        'Holiday day four and I have only opened the laptop six times, I am proud.',
      ],
      asked: [
        'Could {P} be called a workaholic?',
        'Does {P} find it easy to switch off from the office?',
        'Did {P} answer mails at a bad time?',
        'Does {P} open the laptop on holiday?',
      ],
    },
    {
      kind: 'open',
      lead: ['Did you agree to the board meeting?', 'Why do you always take the stairs?'],
      said: [
        'They asked me to speak in front of the board and I offered to write a very long memo instead.',
        'I took the stairs for a week so that I would not have to chat in the lift.',
      ],
      asked: [
        'Is {P} an outgoing person?',
        'Would {P} enjoy a job with lots of public appearances?',
        'Did {P} want to speak in front of the board?',
        'Does {P} like to chat in the lift?',
      ],
    },
  ],
  collections: [
    {
      asked: [
        'What courses or trainings has {P} taken?',
        'What has {P} learned for the job?',
        'Which qualifications did {P} acquire?',
        'How many classes has {P} attended?',
      ],
      lead: ['Are you learning something new again?', 'Where were you all Saturday, another course?'],
      items: [
        ['Three days of first aid with a rubber torso, and I passed.', 'first aid'],
        ['I sat in a seminar on negotiation; the trainer lost every argument.', 'negotiation'],
        ['Evening school, accounting for people who fear numbers. I am hooked.', 'accounting'],
        ['Got my forklift licence! The instructor closed his eyes only once.', 'forklift'],
        ['They sent me to a workshop about speaking in public, of all people.', 'speaking'],
        ['I am doing Dutch twice a week with a teacher who never smiles.', 'Dutch'],
        ['The online thing about statistics is over, certificate and all.', 'statistics'],
        ['A whole Saturday on fire safety. I may now hold the red hose.', 'fire safety'],
        ['I signed up for drawing technical plans by hand, lovely and useless.', 'plans'],
        ['Passed the exam on data protection with one point to spare.', 'data protection'],
      ],
    },
    {
      asked: [
        'Which cities has {P} visited on business?',
        'Where has work taken {P}?',
        'What trips did {P} make for the company?',
        'How many places has {P} travelled to for the job?',
      ],
      lead: ['Where did work send you this time?', 'Is the suitcase for a business trip?'],
      items: [
        ['They flew me to Gdańsk for a meeting of eleven minutes.', 'Gdańsk'],
        ['Trade fair in Lyon, my feet are square.', 'Lyon'],
        ['I spent the week at our plant in Tampere, minus twenty outside.', 'Tampere'],
        ['Customer visit in Porto; we signed over sardines.', 'Porto'],
        ['Two nights in Leeds for the audit, the hotel had carpet on the walls.', 'Leeds'],
        ['Back from Nairobi, the conference was worth every hour in the plane.', 'Nairobi'],
        ['The boss took us to Graz to look at a competitor.', 'Graz'],
        ['I missed my connection in Zürich and pitched from a phone booth.', 'Zürich'],
        ['Day trip to Antwerp to sign one sheet of paper.', 'Antwerp'],
        ['A fortnight at the branch in Bergen, and it rained on thirteen days.', 'Bergen'],
      ],
    },
  ],
  changes: [
    {
      values: ['accounts', 'logistics', 'customer care', 'the legal team', 'research', 'marketing'],
      before: [
        'I am with {old} at the moment, second floor, next to the plant that died.',
        'My desk is in {old}, and I know everybody there.',
      ],
      after: ['I carried my box two floors up: {new} has me now.', 'It happened quickly, since Monday I belong to {new}.'],
      asked: ['Which department is {P} in now?', "What is {P}'s present team?"],
    },
    {
      values: ['Tuesday', 'Thursday', 'the first of the month', 'Friday at noon', 'Wednesday'],
      before: ['The report is due {old}, as always.', 'We agreed on {old} as the deadline for the report.'],
      after: ['They moved the deadline, so the report goes out {new}.', 'Forget what I said, the report is wanted for {new}.'],
      asked: ["When is {P}'s report due?", 'What is the latest deadline for the report of {P}?'],
    },
  ],
  contradictions: [
    {
      first: [
        'Working from home suits me perfectly, I never want to see an office again.',
        'I would not manage people for all the tea in China.',
      ],
      second: [
        'I rented a desk in town. Four walls and silence were driving me mad at home.',
        'I applied to lead the team. I think I would be good at it.',
      ],
      asked: [
        'What has {P} said about the right place to work or about leading?',
        'Did {P} change their view on being a manager or on home office?',
      ],
    },
    {
      first: [
        'Meetings are the only place where anything gets decided.',
        'I check every figure twice, there has never been a mistake in my tables.',
      ],
      second: [
        'I cancelled all my meetings. Nothing was ever decided in one.',
        'I sent the wrong table to the ministry, and it was not the first time.',
      ],
      asked: [
        'What does {P} think of meetings, or of being accurate, at different times?',
        'Are there conflicting statements by {P} about tables and mistakes or meetings?',
      ],
    },
  ],
  chatter: [
    'Work is work, you know how it is.',
    'My boss is in a mood today.',
    'I have meetings until four and then some more.',
    'Do you ever think about changing jobs altogether?',
    'The coffee at the office is a crime.',
    'I could write a novel about this company.',
    'The project goes on and on.',
    'Somebody has to do the report, I suppose.',
    'My team is lovely, it is the printer I hate.',
    'I will look at my calendar and tell you.',
    'They talk about cuts every autumn.',
    'Colleagues are like weather.',
  ],
};
