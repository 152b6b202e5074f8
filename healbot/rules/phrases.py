"""The phrases that injection looks for, as data: a rule's word and a pattern.

Knows regular expressions only. They are matched against case-folded text without hidden characters;
a gap between words may hold punctuation and line breaks, so that wrapping hides nothing.
"""

_GAP = r"(?:\W+\w+){0,5}?\W+"
PHRASES: tuple[tuple[str, str], ...] = (
    (
        "override",
        (
            r"\b(?:ignor|disregard|forget|neglect|overrid|bypass|overrul|supersed)(?:e|es|ing|s"
            r"|ting)?\b"
            rf"{_GAP}(?:previous|prior|above|earlier|preceding|foregoing|former|original|initial"
            rf"|existing"
            r"|system|developer|safety|other|your|all|any|every)\W+(?:\w+\W+){0,3}?"
            r"(?:instruction|rule|prompt|direction|directive|guideline|guardrail|constraint|safeguard"
            r"|polic(?:y|ies)\b|training\b)s?"
        ),
    ),
    (
        "override",
        (
            r"\b(?:ignore|disregard|forget)\W+(?:all|any|everything|anything|what)\b"
            r"(?:\W+\w+){0,4}?\W+(?:above|before|previous(?:ly)?|prior|earlier|so far)\b"
        ),
    ),
    (
        "override",
        (
            r"\b(?:stop following|no longer follow|(?:do not|don't) (?:follow|obey))\W+(?:the|any"
            r"|all|your)"
            r"\W+(?:\w+\W+){0,2}?(?:instructions|rules|guidelines|polic(?:y|ies))\b"
        ),
    ),
    (
        "override",
        (
            r"\b(?:sections?|rules?|limits?|polic(?:y|ies)|instructions?|guidelines?|safeguards?"
            r"|safety)\b(?:\W+\w+){0,4}?\W+(?:no longer appl(?:y|ies)|(?:can|may) be ignored"
            r"|(?:is|are)(?: now)? (?:void|suspended|lifted|optional|not binding))\b"
            r"|\btreat\b(?:\W+\w+){0,6}?\W+as (?:optional|void|advisory|a suggestion)\b"
        ),
    ),
    (
        "role",
        (
            r"</?\s*(?:system|assistant|human|developer)(?:[-_](?:reminder|prompt|message"
            r"|instructions?))?"
            r"\s*/?>|\[/?inst\]|<</?sys>>|<\|[a-z_]{2,24}\|>"
            r"|\[(?:system|developer)(?: message)?\]\s*:?"
            r"|(?:^|\n)[\s>*#-]*(?:system|assistant|developer message)"
            r"(?: (?:prompt|message|override))?\s*:\s*[^\s{\['|]"
        ),
    ),
    (
        "role",
        (
            r"\byou(?:'re| are) now (?!able|ready|done|free to|on\b|at\b|set\b|in the\b"
            r"|using\b)(?:an?|the|in"
            r"|my|going|dan|root|operating|acting|unrestricted|no longer)\b|\bfrom now on,? (?:you"
            r"|act)\b"
            r"|\b(?:developer|debug|god|admin|dan) mode (?:is )?(?:enabled|on|active|activated)\b"
            r"|\bjailb(?:reak|roken)\b|\bpretend (?:to be|you are|that you)\b"
            r"|\bact as (?:if you (?:were|are|had)|root|dan\b|an? (?:unrestricted|unfiltered))"
            r"|\b(?:begin|end|new|updated) (?:of )?system (?:prompt|message|instructions?)\b"
        ),
    ),
    (
        "exfiltration",
        (
            r"\b(?:send|post|upload|exfiltrat|transmit|forward|e-?mail|leak|copy|push|put|submit"
            r"|append|attach"
            r"|encode|include|report|share|deliver|write|embed)\w*\b[^\n]{0,80}"
            r"\b(?:secrets?|api[-_ ]?keys?|tokens?|credentials?|passwords?|private keys?|ssh keys?"
            r"|cookies?"
            r"|env(?:ironment)?(?: variables?| vars?)?|id_rsa|system prompt|conversation"
            r"|transcripts?"
            r"|chat history|customer data|session data)\b[^\n]{0,60}"
            r"(?:https?://|\bwebhook\b|\bpastebin\b|\b[\w.+-]+@[\w-]+\.\w"
            r"|\bexternal (?:server|host|url"
            r"|endpoint|address)\b|\bto (?:the|this|my|our) (?:url|server|address|endpoint|host)\b)"
        ),
    ),
    (
        "exfiltration",
        (
            r"\b(?:curl|wget|nc|http|https)\b[^\n]{0,300}(?:\$\((?:env|printenv|cat|base64)\b"
            r"|[@<]\s*\S*(?:\.env\b"
            r"|id_rsa|id_ed25519|\.aws/|\.ssh/|\.netrc)|`(?:env|printenv|cat)\b)"
            r"|\b(?:env|printenv)\s*\|\s*(?:curl|nc|wget|base64)\b"
            r"|\bcat\b[^\n|]{0,300}(?:\.env\b|id_rsa|\.ssh/|\.aws/|\.netrc)[^\n|]{0,300}\|\s*(?:curl|nc|wget"
            r"|base64)\b"
            r"|!\[[^\]\n]*\]\(https?://[^)\n]{0,300}[?&][^)\n]{0,300}(?:\{|\$|<|%7b)[^)\n]{0,300}\)"
        ),
    ),
    (
        "shell-pipe",
        (
            r"\b(?:curl|wget|iwr|irm|invoke-(?:webrequest|restmethod)|fetch)\b[^\n"
            r"|]*\|\s*(?:sudo\s+(?:-\S+\s+)*)?"
            r"(?:env\s+)?(?:ba|z|da|k|fi)?sh\b|\b(?:curl|wget|iwr|irm)\b[^\n|]{0,300}\|\s*(?:sudo\s+)?"
            r"(?:python3?|node|perl|ruby|php|iex)\b|\bbase64\b[^\n|]{0,300}\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b"
            r"|\b(?:(?:ba|z|da)?sh|source|eval|python3?)\b[^\n]{0,12}(?:<\(|\$\(|`)\s*(?:curl|wget)\b"
            r"|\b(?:iex|invoke-expression)\b\s*\("
        ),
    ),
    (
        "disable-safety",
        (
            r"\b(?:disabl|skip|turn(?:ing)? off|bypass|circumvent|deactivat|suppress|switch(?:ing)?"
            r" off|evad"
            r"|work(?:ing)? around|ignor|override|remov)(?:e|es|ing|s|ping)?\b(?:\W+\w+){0,3}?\W+"
            r"(?:safety|safeguards?|guardrails?|approvals?|permission (?:check|prompt|request)s?"
            r"|confirmation(?: prompt| step)?s?|sandbox(?:ing)?|security (?:check|rule|control"
            r"|review|polic)"
            r"\w*|human review|content filters?|escalations?)\b"
        ),
    ),
    (
        "disable-safety",
        (
            r"\bwithout (?:asking\b|(?:waiting for |any |further |prior |user |human "
            r"|explicit )*"
            r"(?:approval|confirmation|permission|consent))\b"
            r"|dangerously[-_]?skip[-_]?permissions|(?:^|\s)--yolo\b"
            r"|\b(?:approve|accept|grant|allow)\W+(?:all|every|any|each)\W+(?:\w+\W+){0,2}?"
            r"(?:request|refund|permission|command|action|tool call|transaction|payment)s?\b"
            r"|\b(?:no|never any) (?:approval|confirmation|permission) (?:is )?(?:needed|required"
            r"|necessary)\b"
        ),
    ),
    (
        "concealment",
        (
            r"\b(?:do not|don't|never|without) (?:tell|inform|alert|notify|warn|mention)(?:ing)?\b"
            r"(?:\W+\w+){0,4}?\W+(?:about|of|that)\W+(?:this|these|the (?:change|rule|edit"
            r"|instruction))\b"
            r"|\b(?:do not|don't|never) (?:mention|reveal|disclose|show) (?:this|these)"
            r" (?:rules?|instructions?|lines?|edits?|changes?)\b"
            r"|\bkeep (?:this|these) (?:\w+ )?(?:secret|hidden|to yourself)\b"
        ),
    ),
    (
        "rank",
        (
            r"\boutranks?\b|\b(?:takes?|has|have|with) (?:absolute |full |strict )?(?:precedence"
            r"|priority) over"
            r" (?:all|any|every|everything|the system|safety)\b|\boverrides? (?:all|any|every"
            r"|everything)\b"
            r"|\bhighest[- ]priority (?:rule|instruction|directive)\b"
            r"|\babove all (?:other )?(?:rules"
            r"|instructions)\b|\bregardless of (?:any|all|what) (?:other|previous|prior|earlier)\b"
        ),
    ),
    (
        "rank",
        (
            r"\b(?:this|these|following|rule|instruction|line|lesson"
            r"|section)\b[^.\n]{0,50}?\b(?:must|may|can"
            r"|shall|should|will)(?:\s*not|n't| never) (?:ever )?be (?:removed|deleted|changed"
            r"|edited|modified"
            r"|overridden|reverted|rolled back|weakened|questioned)\b"
            r"|\b(?:do not|don't|never) (?:ever )?(?:remove|delete|edit|revert|change|modify)"
            r" (?:this|these)"
            r" (?:rule|line|instruction|paragraph|guidance|lesson)s?\b"
            r"|\bthis (?:rule|instruction|line) is (?:final|permanent|immutable|irrevocable)\b"
        ),
    ),
    ("comment", r"<!--(?! healbot:[0-9a-f]{8} -->)|--!>"),
    (
        "url",
        r"\b(?:javascript|vbscript):[^\s`,/]|\bdata:(?:[\w.+-]+/[\w.+-]+)?(?:;[\w=.+-]+)*[;,]\S",
    ),
)
