-- Which documents could not be read, and why?
select d.error_code, count(*) as documents, min(d.source) as for_example, min(d.error_message) as message
from rag.documents_overview as d
where d.error_code is not null
group by d.error_code
order by documents desc, d.error_code;
